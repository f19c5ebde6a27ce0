// A file that changes while it is open: a recording that goes on, and a finished one that is written again.
#include <QFile>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::follow_test {
namespace {

constexpr TimeNs kStep = 1'000'000;

class FollowTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1200, 700);
    window_.show();
    auto sink = createTrace(path());
    ASSERT_TRUE(sink.has_value());
    sink_ = std::move(*sink);
    process_ = sink_->process({1, "toy", "", 0});
    track_ = threadOf(1, "main");
    record(track_, 0, 20);
  }
  std::string path() const { return folder_ / "running.pitwall"; }
  TrackId threadOf(int tid, const char* name) {
    const ThreadId thread = sink_->thread({process_, tid, name});
    return sink_->track({TrackKind::thread, process_, thread, {}, "", ""});
  }
  // Events `from` .. `to` - 1 of one step each, written to the file.
  void record(TrackId track, int from, int to) {
    std::vector<Event> events;
    for (int i = from; i < to; ++i)
      events.push_back({.start_ns = i * kStep, .dur_ns = kStep / 2, .name = sink_->string("step")});
    sink_->events(track, events);
    ASSERT_TRUE(sink_->flush().has_value());
  }
  // What the watch does after a second, now.
  void refresh() {
    QSignalSpy shown(&window_, &MainWindow::refreshed);
    window_.fileWatch().look();
    ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  }

  std::unique_ptr<TraceSink> sink_;
  ProcessId process_;
  TrackId track_;
};

TEST_F(FollowTest, WhatIsRecordedMeanwhileAppearsAndTheViewStays) {
  open(path());
  TimelineView& view = window_.timelineView();
  ASSERT_NE(view.timeline(), nullptr);
  EXPECT_EQ(view.timeline()->events, 20U);
  EXPECT_FALSE(view.timeline()->complete);
  view.showTimes(2 * kStep, 4 * kStep);
  view.select(EventRef{0, 0, 3}, false);
  view.selectRange(TimeRange{2 * kStep, 3 * kStep, {0}});
  const View seen = view.viewportModel().view();
  record(threadOf(2, "a busier thread"), 0, 90);  // before the other one in the order of rows
  refresh();
  EXPECT_EQ(view.timeline()->events, 110U);
  EXPECT_EQ(view.viewportModel().endNs(), view.timeline()->end_ns);
  EXPECT_EQ(view.viewportModel().view().start_ns, seen.start_ns);
  EXPECT_EQ(view.viewportModel().view().ns_per_px, seen.ns_per_px);
  ASSERT_TRUE(view.selected().has_value());
  const TimelineTrack& track = view.timeline()->tracks[view.selected()->track];
  EXPECT_EQ(track.title, "main") << "the same event, whatever row it is in";
  EXPECT_EQ(track.lanes[0].startNs(view.selected()->index), 3 * kStep);
  ASSERT_TRUE(view.range().has_value());
  ASSERT_EQ(view.range()->tracks.size(), 1U);
  EXPECT_EQ(view.timeline()->tracks[view.range()->tracks[0]].title, "main");
}

TEST_F(FollowTest, AViewOfTheEndStaysAtTheEnd) {
  open(path());
  TimelineView& view = window_.timelineView();
  view.showTimes(2 * kStep, 4 * kStep);
  key(Qt::Key_End);
  const View before = view.viewportModel().view();
  EXPECT_GE(before.endNs(), static_cast<double>(view.timeline()->end_ns));
  record(track_, 20, 60);
  refresh();
  const View after = view.viewportModel().view();
  EXPECT_EQ(after.ns_per_px, before.ns_per_px);
  EXPECT_GE(after.endNs(), static_cast<double>(view.timeline()->end_ns));
  EXPECT_NEAR(after.start_ns - before.start_ns, 40.0 * kStep, 2 * after.ns_per_px);
  // The whole trace stays the whole trace.
  key(Qt::Key_0);
  record(track_, 60, 200);
  QTest::qWait(0);
  QSignalSpy shown(&window_, &MainWindow::refreshed);
  window_.fileWatch().look();
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  EXPECT_LE(view.viewportModel().view().start_ns, 0);
  EXPECT_GE(view.viewportModel().view().endNs(), static_cast<double>(view.timeline()->end_ns));
}

TEST_F(FollowTest, TheEndOfTheRecordingIsAnalysed) {
  open(path());
  EXPECT_TRUE(window_.notice().text().contains("recording"));
  for (int i = 0; i <= 20; ++i) sink_->iteration({.index = i, .time_ns = i * kStep, .items = 32});
  QSignalSpy analysed(&window_, &MainWindow::analysisShown);
  ASSERT_TRUE(sink_->finish().has_value());
  refresh();
  EXPECT_TRUE(window_.timelineView().timeline()->complete);
  EXPECT_TRUE(window_.notice().text().isEmpty()) << window_.notice().text().toStdString();
  EXPECT_TRUE(analysed.count() > 0 || analysed.wait(kPatienceMs));
}

TEST_F(FollowTest, ItIsFollowedOnlyWhereThatIsWanted) {
  open(path());
  window_.actions().find("file.follow")->trigger();
  EXPECT_FALSE(QSettings().value("follow").toBool());
  record(track_, 20, 30);
  window_.fileWatch().look();
  QTest::qWait(50);
  EXPECT_EQ(window_.timelineView().timeline()->events, 20U);
  QSignalSpy shown(&window_, &MainWindow::refreshed);
  window_.actions().find("file.follow")->trigger();
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  EXPECT_EQ(window_.timelineView().timeline()->events, 30U);
}

TEST_F(FollowTest, AFinishedTraceThatIsReplacedIsSaidToHaveChanged) {
  const std::string small = smallTrace();
  open(small);
  EXPECT_TRUE(window_.notice().text().isEmpty());
  window_.fileWatch().look();
  EXPECT_TRUE(window_.notice().text().isEmpty()) << "nothing has changed";
  ASSERT_TRUE(sink_->finish().has_value());
  ASSERT_TRUE(QFile::remove(QString::fromStdString(small)));
  window_.fileWatch().look();
  EXPECT_TRUE(window_.notice().text().isEmpty()) << "a file that is being replaced is away for a moment";
  ASSERT_TRUE(QFile::copy(QString::fromStdString(path()), QString::fromStdString(small)));
  window_.fileWatch().look();
  EXPECT_TRUE(window_.notice().text().contains("small.pitwall has changed"));
  QSignalSpy shown(&window_, &MainWindow::analysisShown);
  window_.timelineView().setFocus();
  window_.actions().find("file.reload")->trigger();
  ASSERT_TRUE(shown.wait(kPatienceMs));
  EXPECT_TRUE(window_.notice().text().isEmpty());
  EXPECT_EQ(window_.timelineView().timeline()->events, 20U);
}

}  // namespace
}  // namespace pitwall::gui::follow_test
