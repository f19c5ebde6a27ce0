// Every key and gesture of the viewer's key map, performed: what it does is seen, not only that it is bound. Those of
// pages, dialogs and the search are in key_map_pages_test.cpp.
#include <QApplication>
#include <QGestureEvent>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QScrollBar>

#include "gui/views/row_titles.h"
#include "tests/gui/key_map_fixture.h"

namespace pitwall::gui::key_map_test {
namespace {

TEST_F(KeyMapTest, PinchZoomsAtTheFingersAndIsOneStepBack) {
  const double whole = shown().ns_per_px;
  const QPointF fingers = at(0, 0, 5e6);
  const QPointF global = view().viewport()->mapToGlobal(fingers);
  const auto native = [&](Qt::NativeGestureType type, double value) {
    QNativeGestureEvent event(type, QPointingDevice::primaryPointingDevice(), 2, fingers, fingers, global,
                              value, {});
    QApplication::sendEvent(view().viewport(), &event);
  };
  native(Qt::BeginNativeGesture, 0);
  for (int i = 0; i < 4; ++i) native(Qt::ZoomNativeGesture, 0.25);
  native(Qt::EndNativeGesture, 0);
  EXPECT_NEAR(shown().ns_per_px, whole / std::pow(1.25, 4), whole / 100);
  EXPECT_NEAR(at(0, 0, 5e6).x(), fingers.x(), 2.0);
  key(Qt::Key_Backspace);
  EXPECT_NEAR(shown().ns_per_px, whole, whole / 1000);
  native(Qt::ZoomNativeGesture, -0.5);  // apart again: out, as far as the trace goes
  EXPECT_GE(shown().ns_per_px, whole * 0.999);
  native(Qt::EndNativeGesture, 0);
  key(Qt::Key_0);

  // Two fingers on a screen.
  QPinchGesture pinch;
  pinch.setCenterPoint(global);
  pinch.setScaleFactor(2);
  QGestureEvent event({&pinch});
  QApplication::sendEvent(view().viewport(), &event);
  EXPECT_NEAR(shown().ns_per_px, whole / 2, whole / 100);
  EXPECT_NEAR(at(0, 0, 5e6).x(), fingers.x(), 2.0);
}

TEST_F(KeyMapTest, WheelWithoutAKeyAndPageKeysScrollRows) {
  for (int i = 0; i < 20; ++i) keys("Ctrl+Shift++");
  window_.resize(1300, 480);
  QApplication::processEvents();
  QScrollBar* bar = view().verticalScrollBar();
  ASSERT_GT(bar->maximum(), 0);
  wheel(at(0, 0, 5e6), {0, -120});
  EXPECT_GT(bar->value(), 0);
  wheel(at(0, 0, 5e6), {0, 240});
  EXPECT_EQ(bar->value(), 0);
  key(Qt::Key_PageDown);
  EXPECT_GT(bar->value(), 0);
  EXPECT_GT(view().focusedRow(), 0U);
  key(Qt::Key_PageUp);
  EXPECT_EQ(bar->value(), 0);
  EXPECT_EQ(view().focusedRow(), 0U);
  key(Qt::Key_Down);
  key(Qt::Key_Down);
  EXPECT_EQ(view().focusedRow(), 2U);
  key(Qt::Key_Up);
  EXPECT_EQ(view().focusedRow(), 1U);
}

TEST_F(KeyMapTest, KeysZoomAsTheLettersDo) {
  const double whole = span();
  key(Qt::Key_W);
  const double once = span();
  key(Qt::Key_0);
  keys("Ctrl++");
  EXPECT_NEAR(span(), once, once / 100);
  keys("Ctrl+-");
  EXPECT_NEAR(span(), whole, whole / 50);
  keys("Ctrl++");
  keys("Shift+S");
  EXPECT_GT(span(), 0.99 * whole);  // three times as far, or all of it
  keys("Home");
  EXPECT_NEAR(span(), whole, whole / 100);
}

TEST_F(KeyMapTest, EnterSelectsWhatHasTheFocusAndFitsIt) {
  view().focusTrack(1);
  key(Qt::Key_Return);
  EXPECT_EQ(selectedName(), "step");
  EXPECT_EQ(view().selected()->track, 1U);
  EXPECT_NEAR(span(), 990'000, 100'000);
  key(Qt::Key_0);
  key(Qt::Key_Enter);  // the one beside the digits
  EXPECT_NEAR(span(), 990'000, 100'000);
}

TEST_F(KeyMapTest, SameNameByTheKeysOfNextAndPrevious) {
  click(at(0, 1, 2.1e6));
  const std::size_t index = view().selected()->index;
  key(Qt::Key_Greater);
  EXPECT_EQ(view().selected()->index, index + 2);
  EXPECT_EQ(selectedName(), "forward");
  key(Qt::Key_Less);
  EXPECT_EQ(view().selected()->index, index);
}

TEST_F(KeyMapTest, ArrowsAreFollowedForwardAndBack) {
  const std::string path = folder_ / "arrows.pitwall";
  {
    auto sink = createTrace(path);
    ASSERT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const TrackId host =
        trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
    const DeviceId device = trace.device({"gpu", 0, "a device", 0});
    const TrackId stream = trace.track({TrackKind::stream, process, {}, device, "stream 7", ""});
    const Event launch{.start_ns = 0, .dur_ns = 1000, .correlation = 1, .name = trace.string("launch")};
    const Event kernel{.start_ns = 2000, .dur_ns = 1000, .correlation = 2, .name = trace.string("kernel")};
    trace.events(host, {&launch, 1});
    trace.events(stream, {&kernel, 1});
    const Dependency arrow{1, 2, DependencyKind::launch};
    trace.dependencies({&arrow, 1});
    ASSERT_TRUE(trace.finish().has_value());
  }
  open(path);
  view().setFocus();
  window_.find("launch", true);
  const EventRef launch = *view().selected();
  ASSERT_TRUE(QTest::qWaitFor([&] { return view().arrows().size() == 1; }, kPatienceMs));
  const QImage with_arrow = view().picture();
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selectedName(), "kernel");
  ASSERT_TRUE(QTest::qWaitFor([&] { return view().arrows().size() == 1; }, kPatienceMs));
  key(Qt::Key_BracketRight);  // nothing waits for it
  EXPECT_EQ(selectedName(), "kernel");
  key(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), launch);
  view().setArrows({});
  EXPECT_NE(view().picture(), with_arrow);  // it had been drawn
}

TEST_F(KeyMapTest, EdgesOfARangeSnapToEventsUnlessToldNotTo) {
  const double pixel = shown().ns_per_px;
  drag(at(0, 0, 4e6 + 5 * pixel), at(0, 0, 7.9e6 - 6 * pixel));
  ASSERT_TRUE(view().range().has_value());
  EXPECT_EQ(view().range()->from, 4'000'000);  // where step begins
  EXPECT_EQ(view().range()->to, 7'900'000);    // where it ends
  drag(at(0, 0, 4.1e6), at(0, 0, 7.8e6), Qt::LeftButton, Qt::ControlModifier);
  EXPECT_NEAR(static_cast<double>(view().range()->from), 4.1e6, pixel);
  EXPECT_NEAR(static_cast<double>(view().range()->to), 7.8e6, pixel);
}

TEST_F(KeyMapTest, HowLongTheRangeIsStandsBesideItWhileItIsDrawn) {
  mouse(QEvent::MouseButtonPress, at(0, 0, 4e6));
  mouse(QEvent::MouseMove, at(0, 0, 8e6));
  const QImage during = view().grab().toImage();
  mouse(QEvent::MouseButtonRelease, at(0, 0, 8e6));
  const QImage after = view().grab().toImage();
  EXPECT_NE(during, after);
}

TEST_F(KeyMapTest, MinimapTakesHoldOfTheFrameAndZoomsToWhatIsDraggedOver) {
  const SceneGeometry g = view().geometryNow();
  const auto over = [&](double share) { return QPointF(g.titles + g.laneWidth() * share, g.minimap / 2.0); };
  const double whole = static_cast<double>(view().viewportModel().endNs() - view().viewportModel().beginNs());
  drag(over(0.2), over(0.4));
  EXPECT_NEAR(span(), 0.2 * whole * 1.1, 0.02 * whole);
  EXPECT_NEAR(middle(), 0.3 * whole, 0.02 * whole);
  const double zoomed = span();
  drag(over(0.3), over(0.6));  // the frame goes along
  EXPECT_NEAR(span(), zoomed, zoomed / 100);
  EXPECT_NEAR(middle(), 0.6 * whole, 0.02 * whole);
  click(over(0.1));  // beside it: there
  EXPECT_NEAR(span(), zoomed, zoomed / 100);
  EXPECT_NEAR(middle(), 0.1 * whole, 0.02 * whole);
  key(Qt::Key_Backspace);
  EXPECT_NEAR(middle(), 0.6 * whole, 0.02 * whole);
}

TEST_F(KeyMapTest, TitlesOpenPinAndMoveRows) {
  const auto& rows = view().rows();
  ASSERT_EQ(rows.rows().size(), 3U);  // the process, main, worker
  click(titleOf(1));
  EXPECT_FALSE(rows.rows()[1].open);
  click(titleOf(1));
  EXPECT_TRUE(rows.rows()[1].open);
  const std::size_t first = rows.rows()[1].index, second = rows.rows()[2].index;
  drag(titleOf(1), titleOf(2) + QPointF(0, 12));
  EXPECT_EQ(rows.rows()[1].index, second);
  EXPECT_EQ(rows.rows()[2].index, first);
  EXPECT_TRUE(rows.rows()[2].open);  // moved, not pressed
  keys("Ctrl+Up");
  EXPECT_EQ(rows.rows()[1].index, first);
  // The sign at the end of the title appears under the mouse.
  const QImage without = view().picture();
  const QPointF pin = pinPlace(view().geometryNow(), rows.rows()[2]).center();
  mouse(QEvent::MouseMove, pin, Qt::NoButton);
  EXPECT_NE(view().picture(), without);
  click(pin);
  EXPECT_TRUE(rows.rows()[0].pinned);
  EXPECT_EQ(rows.rows()[0].index, second);
}

}  // namespace
}  // namespace pitwall::gui::key_map_test
