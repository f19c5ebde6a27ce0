// The viewer's window over a small trace written here, without a display.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include "db/store.h"
#include "gui/app/main_window.h"
#include "tests/support/temp_folder.h"

namespace pitwall::gui {

inline constexpr int kPatienceMs = 60'000;  // bounds a hang, not a speed

class ViewerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    QSettings().clear();
    // State that another test saved for its trace.
    QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)).removeRecursively();
  }

  // Two threads, nested events named step, forward and wait, 20 iterations; more OpenMP threads than CPUs.
  std::string smallTrace() {
    const std::string path = folder_ / "small.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const StringId step = trace.string("step"), forward = trace.string("forward"),
                   wait = trace.string("wait");
    for (int t = 0; t < 2; ++t) {
      const ThreadId thread = trace.thread({process, t + 1, t == 0 ? "main" : "worker"});
      const TrackId track = trace.track({TrackKind::thread, process, thread, {}, "", ""});
      std::vector<Event> events;
      for (int i = 0; i < 20; ++i) {
        const TimeNs at = i * 1'000'000;
        events.push_back({.start_ns = at, .dur_ns = 900'000, .name = step});
        events.push_back({.start_ns = at + 1000, .dur_ns = 500'000, .name = forward, .depth = 1});
        events.push_back({.start_ns = at + 600'000, .dur_ns = 100'000, .name = wait, .depth = 1});
      }
      trace.events(track, events);
    }
    for (int i = 0; i <= 20; ++i) trace.iteration({.index = i, .time_ns = i * 1'000'000, .items = 32});
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }

  void open(const std::string& path) {
    QSignalSpy shown(&window_, &MainWindow::analysisShown);
    window_.open(QString::fromStdString(path));
    ASSERT_TRUE(shown.wait(kPatienceMs));
  }

  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(window_.timelineView().viewport(), key, modifiers);
  }

  std::string errorAfterOpening(const std::string& path) {
    QSignalSpy failed(&window_, &MainWindow::loadFailed);
    window_.open(QString::fromStdString(path));
    EXPECT_TRUE(failed.count() > 0 || failed.wait(kPatienceMs));
    for (const QLabel* label : window_.findChildren<QLabel*>()) {
      if (label->isVisibleTo(&window_) && label->text().contains(QString::fromStdString(path)))
        return label->text().toStdString();
    }
    return "";
  }

  test::TempFolder folder_;
  MainWindow window_;
};

}  // namespace pitwall::gui
