// The page Trials: what `pitwall tune` wrote into its folder.
#include <QAbstractItemModelTester>
#include <QClipboard>
#include <filesystem>
#include <fstream>

#include "analyzer/tune.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::trials_test {
namespace {

// One kept setting that was predicted, one that gained nothing, one that was only screened.
TuneOutcome outcome() {
  TuneOutcome made;
  made.metric = "items/s";
  TuneRow kept;
  kept.settings = "OMP_NUM_THREADS=2";
  kept.rule = "threads/too-many";
  kept.predicted_low = 1.1;
  kept.predicted_high = 1.5;
  kept.method = "trials";
  kept.pairs = 8;
  kept.ratio = 1.25;
  kept.has_interval = true;
  kept.low = 1.2;
  kept.high = 1.3;
  kept.before = 100;
  kept.after = 125;
  kept.conclusion = "kept";
  kept.is_kept = true;
  TuneRow none;
  none.settings = "MXNET_EXEC_BULK_EXEC_TRAIN=1";
  none.pairs = 4;
  none.ratio = 0.99;
  none.has_interval = true;
  none.low = 0.9;
  none.high = 1.02;
  none.conclusion = "no gain";
  none.why = "its interval has 1 in it";
  TuneRow screened;
  screened.settings = "BATCH=64";
  screened.screened_runs = 2;
  screened.ratio = 0.8;
  screened.conclusion = "slower";
  TuneRow untried;
  untried.settings = "BATCH=128";
  untried.conclusion = "not run";
  made.rows = {kept, none, screened, untried};
  made.best = 0;
  made.best_command = {"./train"};
  made.runs = 30;
  made.seconds = 95;
  made.notes = {"other programs used the CPUs"};
  return made;
}

class TrialsTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1400, 900);
    window_.show();
  }
  // As tune leaves it; the paths in the result are those of another place.
  QString tuneFolder(TuneOutcome made = outcome()) {
    const std::string folder = folder_ / "train.tune";
    std::filesystem::create_directory(folder);
    for (const char* trace : {"first.pitwall", "best.pitwall"})
      std::filesystem::copy_file(smallTrace(), folder + "/" + trace);
    std::ofstream(folder + "/best.env") << "export OMP_NUM_THREADS=2\n";
    made.first_trace = "/elsewhere/train.tune/first.pitwall";
    made.best_trace = "/elsewhere/train.tune/best.pitwall";
    made.best_env = "/elsewhere/train.tune/best.env";
    std::ofstream(folder + "/runs.tsv") << "# Runs of 'pitwall tune'\n";
    std::ofstream(folder + "/result.json") << tuneAsJson(made);
    return QString::fromStdString(folder);
  }
  TrialsPage& page() { return window_.tracePages().trials(); }
  QString cell(int row, int column) { return page().model().index(row, column).data().toString(); }
};

TEST_F(TrialsTest, AFolderOfTuneOpensOnItsTrialsWithTheFirstTrace) {
  QAbstractItemModelTester tester(const_cast<TrialsModel*>(&page().model()),
                                  QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QString folder = tuneFolder();
  open(folder.toStdString());
  EXPECT_TRUE(page().isVisible());
  EXPECT_EQ(window_.session().path(), folder + "/first.pitwall");
  ASSERT_EQ(page().model().rowCount(), 4);
  EXPECT_EQ(cell(0, TrialsModel::kSettings), "OMP_NUM_THREADS=2");
  EXPECT_EQ(cell(0, TrialsModel::kPredicted), "1.10 to 1.50");
  EXPECT_EQ(cell(0, TrialsModel::kMeasured), "1.25 (1.20 to 1.30)");
  EXPECT_EQ(cell(1, TrialsModel::kPredicted), "") << "nothing proposed it";
  EXPECT_EQ(cell(2, TrialsModel::kMeasured), "0.80") << "single runs have no interval";
  EXPECT_EQ(cell(3, TrialsModel::kMeasured), "") << "not run";
  EXPECT_EQ(cell(3, TrialsModel::kBefore), "");
  EXPECT_TRUE(page().state().contains("OMP_NUM_THREADS=2")) << qPrintable(page().state());
  EXPECT_TRUE(page().state().contains("30 runs in 1 min 35 s") ||
              page().state().contains("30 runs in 95.0 s"))
      << qPrintable(page().state());
  EXPECT_TRUE(page().state().contains("other programs used the CPUs"));
  EXPECT_DOUBLE_EQ(page().model().leastGain(), 0.8);
  EXPECT_DOUBLE_EQ(page().model().greatestGain(), 1.5);
}

TEST_F(TrialsTest, ATraceInTheFolderHasTheTrialsAndOthersHaveNone) {
  const QString folder = tuneFolder();
  open((folder + "/best.pitwall").toStdString());
  EXPECT_EQ(page().model().rowCount(), 4);
  EXPECT_FALSE(page().isVisible()) << "the page in front stays";
  open(smallTrace());
  EXPECT_EQ(page().model().rowCount(), 0);
  EXPECT_TRUE(page().state().contains("pitwall tune"));
}

TEST_F(TrialsTest, TheTracesBeforeAndAfterAreOneClickAway) {
  const QString folder = tuneFolder();
  open(folder.toStdString());
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  ASSERT_TRUE(page().compareButton().isEnabled()) << "found beside the result, though it was moved";
  page().compareButton().click();
  ASSERT_TRUE(compared.wait(kPatienceMs));
  EXPECT_TRUE(window_.isComparing());
}

TEST_F(TrialsTest, TheBestSettingsAreCopied) {
  open(tuneFolder().toStdString());
  page().copyButton().click();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), "export OMP_NUM_THREADS=2\n");
}

TEST_F(TrialsTest, WhereNothingHelpedThereIsNothingToCopy) {
  TuneOutcome made = outcome();
  made.best = -1;
  made.rows[0].is_kept = false;
  open(tuneFolder(made).toStdString());
  EXPECT_TRUE(page().state().contains("best as it is")) << qPrintable(page().state());
  EXPECT_FALSE(page().copyButton().isEnabled());
}

TEST_F(TrialsTest, ADamagedResultIsSaidAndTheTraceOpens) {
  const QString folder = tuneFolder();
  for (const char* content : {"", "{", "[]", "{\"rows\": 3}", "{\"rows\": [], \"metric\": 7}"}) {
    std::ofstream((folder + "/result.json").toStdString()) << content;
    QSignalSpy failed(&page(), &TrialsPage::failed);
    open((folder + "/first.pitwall").toStdString());
    EXPECT_EQ(failed.count(), 1) << content;
    EXPECT_EQ(page().model().rowCount(), 0);
    EXPECT_NE(window_.timelineView().timeline(), nullptr);
  }
}

// Along the middle of a row: the measured interval is dark, on the axis of all rows.
TEST_F(TrialsTest, AResultOfAnotherProgramIsNone) {
  const std::string trace = smallTrace();
  std::ofstream(folder_ / "result.json") << "{\"accuracy\": 0.9}";
  QSignalSpy failed(&page(), &TrialsPage::failed);
  open(trace);
  EXPECT_EQ(failed.count(), 0);
  EXPECT_EQ(page().model().rowCount(), 0);
}

TEST_F(TrialsTest, TracesAreThoseBesideTheResultNotThoseOfALaterSearch) {
  TuneOutcome made = outcome();
  const QString folder = tuneFolder(made);
  const std::string later = folder_ / "later.tune";
  std::filesystem::create_directory(later);
  std::filesystem::copy_file(smallTrace(), later + "/first.pitwall");
  made.first_trace = later + "/first.pitwall";
  std::ofstream((folder + "/result.json").toStdString()) << tuneAsJson(made);
  open(folder.toStdString());
  EXPECT_EQ(window_.session().path(), folder + "/first.pitwall");
}

TEST_F(TrialsTest, MeasuredIntervalsAreDrawnOnOneAxis) {
  open(tuneFolder().toStdString());
  DataTable& table = page().table();
  table.setCurrentIndex({});
  table.clearSelection();
  const QImage picture = table.viewport()->grab().toImage();
  const auto dark = [&](int row) {
    const QRect place = table.visualRect(page().model().index(row, TrialsModel::kGain));
    std::pair<int, int> found{-1, -1};
    for (int x = place.left(); x < place.right(); ++x) {
      const QColor color = picture.pixelColor(x, place.center().y() - 2);
      if (color.blue() < color.red() + 60) continue;
      if (found.first < 0) found.first = x - place.left();
      found.second = x - place.left();
    }
    return found;
  };
  const double width = table.columnWidth(TrialsModel::kGain) - 12;
  const auto at = [&](double gain) { return 6 + (gain - 0.8) / (1.5 - 0.8) * width; };
  EXPECT_NEAR(dark(0).first, at(1.2), 3);
  EXPECT_NEAR(dark(0).second, at(1.3), 3);
  EXPECT_NEAR(dark(1).first, at(0.9), 3);
  EXPECT_NEAR(dark(1).second, at(1.02), 3);
  EXPECT_EQ(dark(3).first, -1) << "not run";
}

}  // namespace
}  // namespace pitwall::gui::trials_test
