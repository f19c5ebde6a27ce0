#include "analyzer/record/run/merge_interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <system_error>

namespace pitwall::record {

MergeInterrupt::MergeInterrupt(pid_t program, int interrupts) : program_(program), interrupts_(interrupts) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
  }
}

MergeInterrupt::~MergeInterrupt() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);  // blocked there: it ends the wait below
  thread_.join();
}

void MergeInterrupt::watch() {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  for (;;) {
    siginfo_t signal{};
    if (sigwaitinfo(&interrupt, &signal) != SIGINT) continue;
    if (stopping_ && signal.si_pid == getpid()) return;
    if (program_ > 0 && signal.si_code != SI_KERNEL) kill(program_, SIGINT);
    if (++interrupts_ > 1 || program_ == 0) cancelled_ = true;
  }
}

}  // namespace pitwall::record
