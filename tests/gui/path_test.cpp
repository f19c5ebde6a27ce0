// The critical path on the timeline: its lane, its steps by key and by mouse, and the filter.
#include <cstdlib>

#include "gui/views/event_colors.h"
#include "tests/gui/viewer_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::path_test {
namespace {

class PathTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1400, 900);
    window_.show();
  }
  // Two kernels, the second of which the path goes through, after its launch; a call that waits for it.
  void openPath() {
    const std::string path = folder_ / "path.pitwall";
    ASSERT_TRUE(test::makeTraceFile("work kernel first 20us 10us launch=5us\n"
                                    "work kernel second 40us 10us launch=32us\n"
                                    "call cudaDeviceSynchronize 38us 15us\n",
                                    path)
                    .has_value());
    open(path);
    ASSERT_NE(view().criticalPath(), nullptr);
  }
  TimelineView& view() { return window_.timelineView(); }
  std::string selected() {
    if (!view().selected()) return "";
    const EventRef& at = *view().selected();
    return view().timeline()->name(view().timeline()->tracks[at.track].lanes[at.lane].name(at.index));
  }
  EventRef eventCalled(const char* name) {
    window_.find(name, true);
    return *view().selected();
  }
  double laneY() { return view().geometryNow().top() - view().geometryNow().path / 2.0; }
  QPoint inLane(TimeNs time) {
    const double x =
        view().geometryNow().titles + view().viewportModel().view().xOf(static_cast<double>(time));
    return QPointF(x, laneY()).toPoint();
  }
};

TEST_F(PathTest, HasALaneWithStepsOfEventsAndGaps) {
  openPath();
  EXPECT_GT(view().geometryNow().path, 0);
  std::vector<std::string> steps;
  for (const CriticalStep& step : view().criticalPath()->steps)
    steps.push_back(step.event ? step.title : step.part);
  EXPECT_EQ(steps, (std::vector<std::string>{"cudaLaunchKernel", "nothing", "cudaLaunchKernel",
                                             "launch delay", "second", "cudaDeviceSynchronize"}));
  // A step of an event has its colour there, a gap has not.
  const EventRef second = eventCalled("second");
  const Lane& lane = view().timeline()->tracks[second.track].lanes[second.lane];
  view().showAll();
  const QImage all = view().picture();
  const QPoint near_end = inLane(lane.endNs(second.index)) - QPoint(4, 0);
  EXPECT_EQ(all.pixel(near_end), Palette::light().color[lane.color(second.index)]);
  EXPECT_NE(all.pixel(inLane(20'000)), Palette::light().color[lane.color(second.index)]);
}

TEST_F(PathTest, KeysAndClicksGoAlongIt) {
  openPath();
  std::string steps;
  for (int i = 0; i < 5; ++i) {
    key(Qt::Key_BracketRight, Qt::ControlModifier);
    steps += selected() + " ";
  }
  EXPECT_EQ(steps, "cudaLaunchKernel cudaLaunchKernel second cudaDeviceSynchronize cudaDeviceSynchronize ");
  key(Qt::Key_BracketLeft, Qt::ControlModifier);
  EXPECT_EQ(selected(), "second");
  view().showAll();
  QTest::mouseClick(view().viewport(), Qt::LeftButton, Qt::NoModifier, inLane(52'000));
  EXPECT_EQ(selected(), "cudaDeviceSynchronize");
  QTest::mouseDClick(view().viewport(), Qt::LeftButton, Qt::NoModifier, inLane(45'000));
  EXPECT_LT(view().viewportModel().view().ns_per_px * view().viewportModel().view().width_px, 20'000);
}

TEST_F(PathTest, DetailsSayWhereAnEventIsOnIt) {
  openPath();
  eventCalled("second");
  const auto row = [&]() -> QString {
    DetailsView& details = window_.detailsView();
    for (int i = 0; i < details.topLevelItemCount(); ++i) {
      if (details.topLevelItem(i)->text(0) == "Critical path") return details.topLevelItem(i)->text(1);
    }
    return {};
  };
  QTRY_VERIFY_WITH_TIMEOUT(!row().isEmpty(), kPatienceMs);
  EXPECT_EQ(row().toStdString(), "step 5 of 6, 10.0 us of it, after launch delay, 3.00 us");
}

TEST_F(PathTest, TheFilterFadesWhatIsNotOnIt) {
  openPath();
  const EventRef first = eventCalled("first"), second = eventCalled("second");
  key(Qt::Key_Escape);
  view().showAll();
  const auto pixelOf = [&](const EventRef& event) {
    const QRectF box = view().rectOf(event);
    return view().picture().pixel(QPointF(box.right() - 3, box.bottom() - 2).toPoint());
  };
  const QRgb first_before = pixelOf(first), second_before = pixelOf(second);
  key(Qt::Key_K);
  EXPECT_TRUE(view().pathOnly());
  EXPECT_NE(pixelOf(first), first_before);
  const int background = qGray(eventColors(isDark(view().palette())).background);
  EXPECT_LT(std::abs(qGray(pixelOf(first)) - background), std::abs(qGray(first_before) - background));
  EXPECT_EQ(pixelOf(second), second_before);
  key(Qt::Key_K);
  EXPECT_EQ(pixelOf(first), first_before);
}

TEST_F(PathTest, WithoutAPathThereIsNoLane) {
  const std::string path = folder_ / "none.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  const ProcessId process = (*sink)->process({1, "toy", "", 0});
  const TrackId track = (*sink)->track({TrackKind::counter, process, {}, {}, "load", "items"});
  (*sink)->counters(track, std::vector<CounterSample>{{0, 1}, {1000, 2}});
  ASSERT_TRUE((*sink)->finish().has_value());
  open(path);
  EXPECT_EQ(view().criticalPath(), nullptr);
  EXPECT_EQ(view().geometryNow().path, 0);
  key(Qt::Key_BracketRight, Qt::ControlModifier);  // does nothing
  key(Qt::Key_K);
  EXPECT_FALSE(view().picture().isNull());
}

}  // namespace
}  // namespace pitwall::gui::path_test
