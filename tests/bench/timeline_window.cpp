#include "tests/bench/timeline_window.h"

#include <fmt/format.h>

#include <QApplication>

#include "gui/app/main_window.h"
#include "tests/bench/timeline_trace.h"

namespace pitwall::bench {

void measureWindow() {
  fmt::print("{:<60} {:>28}\n", "timeline_bench: CPU time", "min / median / p99");
  const double begin = processSeconds();
  gui::MainWindow window;
  window.resize(1920, 1080);
  window.show();
  QApplication::processEvents();
  window.repaint();
  line("start of the program to its first window, empty",
       fmt::format("{:.1f} ms, {:.1f} of it the window's", processSeconds() * 1e3,
                   (processSeconds() - begin) * 1e3),
       "to reach: 100");
}

}  // namespace pitwall::bench
