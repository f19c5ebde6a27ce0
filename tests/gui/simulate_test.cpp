// The page Simulation: a prediction, its critical path, and the simulated timeline below the recorded one.
#include <QAbstractItemModelTester>
#include <QMenu>
#include <filesystem>

#include "tests/analyzer/simulated.h"
#include "tests/gui/viewer_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::simulate_test {
namespace {

using test::kLoop;

class SimulateTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1400, 900);
    window_.show();
  }
  void openText(const char* text) {
    const std::string path = folder_ / "loop.pitwall";
    ASSERT_TRUE(test::makeTraceFile(text, path).has_value());
    open(path);
  }
  SimulatePage& page() { return window_.simulatePage(); }
  void goThere() {
    QSignalSpy settled(&page(), &SimulatePage::settled);
    window_.actions().find("go.simulate")->trigger();
    ASSERT_TRUE(settled.count() > 0 || settled.wait(kPatienceMs));
  }
  void predict(const char* changes) {
    QSignalSpy settled(&page(), &SimulatePage::settled);
    page().setChanges(changes);
    page().predict();
    ASSERT_TRUE(settled.wait(kPatienceMs));
  }
  QString cell(int row, int column) { return page().parts().index(row, column).data().toString(); }
  // Of the first event of that name in the view's timeline that starts at or after `from`.
  static TimeNs startOf(TimelineView& view, const std::string& name, TimeNs from) {
    for (const TimelineTrack& track : view.timeline()->tracks) {
      for (const Lane& lane : track.lanes) {
        for (std::size_t e = 0; e < lane.size(); ++e) {
          if (lane.startNs(e) >= from && view.timeline()->name(lane.name(e)) == name) return lane.startNs(e);
        }
      }
    }
    return -1;
  }
};

TEST_F(SimulateTest, ThePageSaysFirstWhatLimitsTheRecordedProgram) {
  openText(kLoop);
  goThere();
  EXPECT_TRUE(page().answer().contains("As recorded an iteration takes 100 us"))
      << qPrintable(page().answer());
  EXPECT_TRUE(page().answer().contains("waiting for batches"));
  EXPECT_EQ(page().recorded().timeline(), window_.timelineView().timeline());
  EXPECT_EQ(page().simulated().timeline(), nullptr);
  ASSERT_GT(page().parts().rowCount(), 2);
  EXPECT_EQ(cell(0, SimulatedPartsModel::kSimulated), "") << "nothing is simulated yet";
}

TEST_F(SimulateTest, OpeningATraceDoesNoWorkForThePage) {
  openText(kLoop);
  EXPECT_EQ(page().recorded().timeline(), nullptr);
  EXPECT_TRUE(page().findChildren<TraceSession*>().isEmpty())
      << "its threads are made with the first prediction";
  goThere();
  EXPECT_NE(page().recorded().timeline(), nullptr);
}

TEST_F(SimulateTest, ThePredictionHasItsTimelineBelowTheRecordedOne) {
  openText(kLoop);
  goThere();
  predict("data_wait=0");
  EXPECT_TRUE(page().answer().contains("An iteration takes 60.0 us")) << qPrintable(page().answer());
  EXPECT_TRUE(page().answer().contains("40.0 % less")) << qPrintable(page().answer());
  TimelineView &above = page().recorded(), &below = page().simulated();
  ASSERT_NE(below.timeline(), nullptr);
  const auto& marks = below.timeline()->iterations;
  ASSERT_GT(marks.size(), 3U);
  EXPECT_EQ(marks[2].time_ns - marks[1].time_ns, 60'000);
  // The aligned iteration begins at the same place; in the lower one the kernel starts 40 us earlier.
  const auto aligned = marks[1];
  const auto& all = above.timeline()->iterations;
  const TimeNs begin = all[static_cast<std::size_t>(aligned.index)].time_ns;
  EXPECT_EQ(page().offsetNs(), aligned.time_ns - begin);
  EXPECT_EQ(startOf(above, "gemm", begin) - begin, 45'000);
  EXPECT_EQ(startOf(below, "gemm", aligned.time_ns) - aligned.time_ns, 5'000);
}

TEST_F(SimulateTest, BothTimelinesMoveTogether) {
  openText(kLoop);
  goThere();
  predict("op:gemm=0.5");
  TimelineView &above = page().recorded(), &below = page().simulated();
  for (TimelineView* moved : {&above, &below}) {
    moved->zoomIn();
    moved->panRight();
    const View &a = above.viewportModel().view(), &b = below.viewportModel().view();
    EXPECT_DOUBLE_EQ(a.ns_per_px, b.ns_per_px);
    EXPECT_NEAR(a.start_ns + static_cast<double>(page().offsetNs()), b.start_ns, a.ns_per_px);
  }
  EXPECT_TRUE(window_.findChild<QDockWidget*>("drawer")->isHidden()) << "two timelines need its room";
}

TEST_F(SimulateTest, TheTableHasBothPaths) {
  QAbstractItemModelTester tester(const_cast<SimulatedPartsModel*>(&page().parts()),
                                  QAbstractItemModelTester::FailureReportingMode::Fatal);
  openText(kLoop);
  goThere();
  predict("op:gemm=0.5");
  bool found = false;
  for (int row = 0; row < page().parts().rowCount(); ++row) {
    if (cell(row, SimulatedPartsModel::kTitle) != "gemm") continue;
    found = true;
    EXPECT_EQ(cell(row, SimulatedPartsModel::kRecorded), "20.0 us");
    EXPECT_EQ(cell(row, SimulatedPartsModel::kSimulated), "10.0 us");
    EXPECT_EQ(cell(row, SimulatedPartsModel::kDelta), QString::fromUtf8("\u221210.0 us"));
  }
  EXPECT_TRUE(found);
}

TEST_F(SimulateTest, WhatCannotBeSimulatedIsSaid) {
  openText(kLoop);
  goThere();
  predict("speed=2");
  EXPECT_TRUE(page().answer().contains("'speed=2' is not a change that can be simulated"))
      << qPrintable(page().answer());
  EXPECT_EQ(page().simulated().timeline(), nullptr);
  predict("op:gemm=0.5");
  EXPECT_NE(page().simulated().timeline(), nullptr) << "a right one afterwards is simulated";
  openText("repeat 8 100us\niteration 0 32\nwork kernel a 0 90us\nend\n");
  EXPECT_EQ(page().simulated().timeline(), nullptr) << "the next trace has no prediction yet";
  predict("op:a=0.5");
  EXPECT_TRUE(page().answer().contains("This trace cannot be simulated")) << qPrintable(page().answer());
}

TEST_F(SimulateTest, ChangesThatThereAreCanBeAddedFromAMenu) {
  openText(kLoop);
  goThere();
  const auto menus = page().findChildren<QMenu*>();
  QMenu* examples = nullptr;
  for (QMenu* menu : menus) {
    if (!menu->actions().isEmpty() && menu->actions().front()->text().startsWith("data_wait=0"))
      examples = menu;
  }
  ASSERT_NE(examples, nullptr);
  ASSERT_EQ(examples->actions().size(), static_cast<qsizetype>(simulatedChanges().size()));
  examples->actions()[0]->trigger();
  examples->actions()[1]->trigger();
  EXPECT_EQ(page().changes(), "data_wait=0 workers=4");
  // Each of them is a change, whether this trace has something for it or not.
  for (QAction* action : examples->actions()) {
    page().setChanges({});
    action->trigger();
    QSignalSpy settled(&page(), &SimulatePage::settled);
    page().predict();
    ASSERT_TRUE(settled.wait(kPatienceMs));
    EXPECT_FALSE(page().answer().contains("not a change")) << qPrintable(page().answer());
  }
}

TEST_F(SimulateTest, APredictionStaysWhileARecordingGrows) {
  openText(kLoop);
  goThere();
  predict("op:gemm=0.5");
  const auto simulated = page().simulated().timeline();
  QSignalSpy refreshed(&window_, &MainWindow::refreshed);
  window_.session().refresh();
  ASSERT_TRUE(refreshed.wait(kPatienceMs));
  EXPECT_EQ(page().simulated().timeline(), simulated);
  window_.actions().find("go.timeline")->trigger();
  refreshed.clear();
  window_.session().refresh();
  ASSERT_TRUE(refreshed.wait(kPatienceMs));
  goThere();
  EXPECT_EQ(page().recorded().timeline(), window_.timelineView().timeline())
      << "out of sight it is read again";
}

TEST_F(SimulateTest, OneFileIsKeptOfAllPredictions) {
  openText(kLoop);
  goThere();
  std::string path;
  for (const char* change : {"op:gemm=0.5", "op:gemm=0.25", "data_wait=0"}) {
    predict(change);
    EXPECT_TRUE(path.empty() || !std::filesystem::exists(path)) << path;
    path = page().simulated().timeline()->path;
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  predict("speed=2");
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is shown";
}

TEST_F(SimulateTest, KeysActOnTheTimelineInFocus) {
  openText(kLoop);
  goThere();
  predict("op:gemm=0.5");
  TimelineView& below = page().simulated();
  below.setFocus();
  const double before = below.viewportModel().view().ns_per_px;
  QTest::keyClick(below.viewport(), Qt::Key_W);
  EXPECT_LT(below.viewportModel().view().ns_per_px, before);
  EXPECT_DOUBLE_EQ(page().recorded().viewportModel().view().ns_per_px,
                   below.viewportModel().view().ns_per_px);
}

}  // namespace
}  // namespace pitwall::gui::simulate_test
