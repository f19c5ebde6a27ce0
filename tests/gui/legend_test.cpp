// Colours of events and the legend below the timeline, with real widgets.
#include <algorithm>

#include "gui/views/event_colors.h"
#include "gui/views/legend_bar.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::legend_test {
namespace {

class LegendTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1400, 900);
    window_.show();
    open(smallTrace());
    timeline().updateLegend();
  }
  void TearDown() override { setEventColoring(ColorBy::name); }
  TimelineView& timeline() { return window_.timelineView(); }
  std::vector<std::string> labels() {
    std::vector<std::string> found;
    for (const LegendEntry& entry : timeline().legend().entries()) found.push_back(entry.label);
    std::sort(found.begin(), found.end());
    return found;
  }
  void trigger(const char* id) { window_.actions().find(id)->trigger(); }
  // Of the first event's box, away from its name and its edges.
  QRgb pixelOf(std::size_t lane) {
    const QRectF box = timeline().rectOf({0, lane, 0});
    return timeline().picture().pixel(static_cast<int>(box.right()) - 3, static_cast<int>(box.bottom()) - 2);
  }
};

using Strings = std::vector<std::string>;

TEST_F(LegendTest, ShowsTheNamesInViewAndFollowsIt) {
  EXPECT_EQ(labels(), (Strings{"forward", "step", "wait"}));
  timeline().showTimes(610'000, 690'000);
  QTRY_COMPARE_WITH_TIMEOUT(labels().size(), std::size_t{2}, kPatienceMs);
  EXPECT_EQ(labels(), (Strings{"step", "wait"}));
  EXPECT_TRUE(timeline().legend().isVisible());
  EXPECT_EQ(timeline().legend().accessibleDescription(), "step, wait");
}

TEST_F(LegendTest, AClickOnANameMarksItsEvents) {
  const auto& entries = timeline().legend().entries();
  const auto at =
      std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.label == "forward"; });
  ASSERT_NE(at, entries.end());
  const QRect place = timeline().legend().places()[static_cast<std::size_t>(at - entries.begin())];
  QSignalSpy searched(&window_, &MainWindow::searched);
  QTest::mouseClick(&timeline().legend(), Qt::LeftButton, Qt::NoModifier, place.center());
  ASSERT_TRUE(searched.count() > 0 || searched.wait(kPatienceMs));
  ASSERT_NE(timeline().hits(), nullptr);
  EXPECT_EQ(timeline().hits()->count(), 40U);
}

TEST_F(LegendTest, ColorsAreByNameOrByCategoryAndTheChoiceIsKept) {
  timeline().showTimes(0, 1'000'000);
  const QRgb step = pixelOf(0), forward = pixelOf(1);
  EXPECT_NE(step, forward);
  EXPECT_EQ(step, Palette::light().color[colorOf(EventKind::scope, Phase::none, "step")]);
  trigger("view.color_category");
  timeline().updateLegend();
  EXPECT_EQ(labels(), Strings{"other"});
  EXPECT_EQ(
      pixelOf(0),
      Palette::of(false, false, ColorBy::category).color[colorOf(EventKind::scope, Phase::none, "step")]);
  EXPECT_TRUE(QSettings().value("color_by_category").toBool());
  trigger("view.color_category");
  EXPECT_EQ(pixelOf(0), step);
}

TEST_F(LegendTest, IsHiddenByItsAction) {
  const int rows = timeline().viewport()->height();
  trigger("view.legend");
  EXPECT_FALSE(timeline().legend().isVisible());
  EXPECT_GT(timeline().viewport()->height(), rows);
  EXPECT_FALSE(QSettings().value("legend").toBool());
  trigger("view.legend");
  EXPECT_EQ(timeline().viewport()->height(), rows);
}

}  // namespace
}  // namespace pitwall::gui::legend_test
