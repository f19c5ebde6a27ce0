#include "gui/app/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QSocketNotifier>
#include <csignal>

namespace pitwall::gui {
namespace {

volatile std::sig_atomic_t received = 0;
int pipe_ends[2] = {-1, -1};

void remember(int signal) {
  received = signal;
  const char byte = 0;
  // A full pipe has woken the reader already.
  [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &byte, 1);
}

}  // namespace

void quitOnSignals() {
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;  // signals kill as before
  auto* notifier = new QSocketNotifier(pipe_ends[0], QSocketNotifier::Read, QCoreApplication::instance());
  QObject::connect(notifier, &QSocketNotifier::activated, notifier, [notifier] {
    notifier->setEnabled(false);
    QCoreApplication::quit();
  });
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // as under nohup
  }
}

int signalReceived() { return static_cast<int>(received); }

}  // namespace pitwall::gui
