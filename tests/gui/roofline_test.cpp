// The roofline plot: operators by FLOP per byte and FLOP per second, below what the machine allows.
#include <cmath>

#include "tests/gui/viewer_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::roofline_test {
namespace {

constexpr char kMachine[] =
    "meta roof.flop_per_second 100e9\n"
    "meta roof.copy_bytes_per_second 10e9\n";

// conv: 1 ms, 50 GFLOP/s, 50 FLOP/byte: the processors limit it at 100. add: 0.5 ms, 2 GFLOP/s, 0.25 FLOP/byte: memory limits
// it at 2.5. Of the third nothing is known.
constexpr char kOperators[] =
    "repeat 8 2ms\n"
    "iteration 0 32\n"
    "op conv1 Convolution forward 0 1ms flop=50000000 read=600000 written=400000\n"
    "op add1 Add forward 1ms 500us flop=1000000 read=3000000 written=1000000\n"
    "op copy1 Copy forward 1600us 100us\n"
    "end\n";

class RooflineTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1200, 800);
    window_.show();
  }
  void openText(const std::string& text) {
    const std::string path = folder_ / "operators.pitwall";
    ASSERT_TRUE(test::makeTraceFile(text, path).has_value());
    QSignalSpy shown(&page(), &RooflinePage::shown);
    open(path);
    ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
    window_.actions().find("go.roofline")->trigger();
  }
  RooflinePage& page() { return window_.tracePages().roofline(); }
  RooflinePlot& plot() { return page().plot(); }
};

TEST_F(RooflineTest, OperatorsWhoseWorkIsKnownAreBelowTheMachinesLimits) {
  openText(std::string(kMachine) + kOperators);
  ASSERT_EQ(plot().points().size(), 2U) << "of a copy neither is known";
  const RooflinePoint &conv = plot().points()[0], &add = plot().points()[1];
  EXPECT_EQ(conv.title, "conv1 Convolution (forward)");
  EXPECT_NEAR(conv.flop_per_second, 50e9, 1e7);
  EXPECT_NEAR(conv.flop_per_byte, 50, 1e-6);
  EXPECT_NEAR(add.flop_per_byte, 0.25, 1e-6);
  // Up is more: the limit is above both, and half a decade is equally far everywhere.
  EXPECT_LT(plot().limitAt(conv.flop_per_byte).y(), plot().placeOf(conv).y());
  EXPECT_LT(plot().limitAt(add.flop_per_byte).y(), plot().placeOf(add).y());
  EXPECT_LT(plot().placeOf(add).x(), plot().placeOf(conv).x());
  const double conv_below = plot().placeOf(conv).y() - plot().limitAt(50).y();
  const double add_below = plot().placeOf(add).y() - plot().limitAt(0.25).y();
  EXPECT_NEAR(conv_below / add_below, std::log10(2) / std::log10(1.25), 0.01)
      << "half, and 80 %, of the limit";
  EXPECT_DOUBLE_EQ(plot().limitAt(20).y(), plot().limitAt(1000).y()) << "level from the corner at 10 on";
  EXPECT_GT(plot().limitAt(1).y(), plot().limitAt(5).y());
}

TEST_F(RooflineTest, AnOperatorIsChosenByKeyOrClickAndShownOnTheTimeline) {
  openText(std::string(kMachine) + kOperators);
  QTest::keyClick(&plot(), Qt::Key_Right);
  EXPECT_EQ(plot().chosen(), 0) << "the longest first";
  EXPECT_EQ(plot().accessibleDescription().toStdString(),
            "conv1 Convolution (forward): 50.0 GFLOP/s, 50 FLOP/byte, 50.0 % of what the processors allow; "
            "5.00 ms in the analysed part")
      << "of the steady iterations";
  QTest::mouseClick(&plot(), Qt::LeftButton, {}, plot().placeOf(plot().points()[1]).toPoint());
  EXPECT_EQ(plot().chosen(), 1);
  EXPECT_TRUE(plot().accessibleDescription().contains("80.0 % of what memory allows"))
      << qPrintable(plot().accessibleDescription());
  QSignalSpy searched(&window_, &MainWindow::searched);
  QTest::keyClick(&plot(), Qt::Key_Return);
  ASSERT_TRUE(searched.count() > 0 || searched.wait(kPatienceMs));
  EXPECT_TRUE(window_.timelineView().isVisible());
  ASSERT_TRUE(window_.timelineView().selected());
  const EventRef& event = *window_.timelineView().selected();
  const Timeline& timeline = *window_.timelineView().timeline();
  EXPECT_EQ(timeline.name(timeline.tracks[event.track].lanes[event.lane].name(event.index)), "Add");
}

TEST_F(RooflineTest, WithoutTheMachinesRatesThereIsNoLimitAndThePageSaysWhy) {
  openText(kOperators);
  EXPECT_EQ(plot().points().size(), 2U);
  EXPECT_EQ(allowedRate(plot().machine(), 1), 0);
  EXPECT_TRUE(page().state().contains("--calibrate")) << qPrintable(page().state());
  QTest::keyClick(&plot(), Qt::Key_Right);
  EXPECT_FALSE(plot().accessibleDescription().contains("allow"));
}

TEST_F(RooflineTest, ATraceWithoutFlopHasNothingToPlot) {
  openText("repeat 8 2ms\niteration 0 32\nop copy1 Copy forward 0 100us\nend\n");
  EXPECT_TRUE(plot().points().empty());
  QTest::keyClick(&plot(), Qt::Key_Right);
  QTest::keyClick(&plot(), Qt::Key_Left);
  QTest::keyClick(&plot(), Qt::Key_Return);
  EXPECT_EQ(plot().chosen(), -1);
}

TEST_F(RooflineTest, OneOfBothRatesLimitsAlone) {
  EXPECT_EQ(allowedRate({100, 0}, 1e-3), 100);
  EXPECT_EQ(allowedRate({0, 10}, 3), 30);
  EXPECT_EQ(allowedRate({100, 10}, 3), 30);
  EXPECT_EQ(allowedRate({100, 10}, 30), 100);
}

}  // namespace
}  // namespace pitwall::gui::roofline_test
