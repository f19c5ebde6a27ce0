#include "analyzer/cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <string_view>
#include <system_error>
#include <thread>

#include "db/unfinished.h"

namespace pitwall::cli {
namespace {

// Standard error may be a full pipe.
void say(std::string_view text) {
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&writable, 1, 0) == 1 && ::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void awaitSignal(const sigset_t& signals) {
  int number = 0;
  while (sigwait(&signals, &number) != 0) {
  }
  removeUnfinished();
  if (::isatty(STDERR_FILENO) == 1) say("\n");  // behind "^C" or a line of progress
  say("pitwall: interrupted; no partial file is left\n");
  ::_exit(kInterrupted);
}

}  // namespace

void endOnInterrupt() {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  ::signal(SIGINT, SIG_DFL);  // an ignored one would never arrive
  ::signal(SIGTERM, SIG_DFL);
  try {
    std::thread([signals] { awaitSignal(signals); }).detach();
  } catch (const std::system_error&) {  // no thread can be made: the signals end the process as usual
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

}  // namespace pitwall::cli
