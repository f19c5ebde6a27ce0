// Several files that are opened together.
#include <QAbstractItemModelTester>
#include <QDropEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QUrl>

#include "gui/app/command_line.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::several_files_test {
namespace {

class SeveralFilesTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1200, 700);
    window_.show();
    for (const int devices : {1, 2, 4}) files_ += run(devices);
  }
  // 30 iterations of 8 ms on one device, of 5 ms on two, of 4 ms on four.
  QString run(int devices) {
    const std::string path = folder_ / ("on" + std::to_string(devices) + ".pitwall");
    const TimeNs step = devices == 1 ? 8'000'000 : devices == 2 ? 5'000'000 : 4'000'000;
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({devices, "toy" + std::to_string(devices), "", devices});
    const ThreadId thread = trace.thread({process, 1, "main"});
    for (int d = 0; d < devices; ++d) trace.device({"gpu", d, "a device", 0});
    const TrackId track = trace.track({TrackKind::thread, process, thread, {}, "", ""});
    std::vector<Event> events;
    for (int i = 0; i < 30; ++i)
      events.push_back({.start_ns = i * step, .dur_ns = step / 2, .name = trace.string("work")});
    trace.events(track, events);
    for (int i = 0; i <= 30; ++i) trace.iteration({.index = i, .time_ns = i * step, .items = 32});
    EXPECT_TRUE(trace.finish().has_value());
    return QString::fromStdString(path);
  }
  void drop(const QStringList& paths) {
    QList<QUrl> urls;
    for (const QString& path : paths) urls += QUrl::fromLocalFile(path);
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window_, &enter);
    QDropEvent event({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window_, &event);
  }
  void answer(const char* button) {
    auto* question = window_.findChild<QMessageBox*>("several_files");
    ASSERT_NE(question, nullptr);
    auto* chosen = question->findChild<QPushButton*>(button);
    ASSERT_NE(chosen, nullptr);
    QTest::mouseClick(chosen, Qt::LeftButton);
  }

  QStringList files_;
};

TEST_F(SeveralFilesTest, OneTimelineHasTheProcessesOfAllAndOpensAgain) {
  QSignalSpy shown(&window_, &MainWindow::analysisShown);
  drop(files_);
  answer("merge");
  ASSERT_TRUE(shown.wait(kPatienceMs));
  ASSERT_NE(window_.timelineView().timeline(), nullptr);
  EXPECT_EQ(window_.timelineView().timeline()->processes.size(), 3U);
  EXPECT_EQ(window_.timelineView().timeline()->events, 90U);
  EXPECT_TRUE(window_.windowTitle().contains("on1.pitwall and 2 more"))
      << window_.windowTitle().toStdString();
  shown.clear();
  window_.actions().find("file.reload")->trigger();
  ASSERT_TRUE(shown.wait(kPatienceMs));
  EXPECT_EQ(window_.timelineView().timeline()->events, 90U);
  for (const auto* question : window_.findChildren<QMessageBox*>("several_files"))
    EXPECT_FALSE(question->isVisible()) << "it is asked once";
}

TEST_F(SeveralFilesTest, ThreeRunsAreComparedInATable) {
  ComparePage& page = window_.comparePage();
  QAbstractItemModelTester tester(&page.runs(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  QSignalSpy measured(&page, &ComparePage::runMeasured), compared(&page, &ComparePage::compared);
  drop(files_);
  answer("compare");
  ASSERT_TRUE(QTest::qWaitFor([&] { return measured.count() == 3 && compared.count() > 0; }, kPatienceMs));
  EXPECT_TRUE(window_.isComparing());
  const RunsModel& runs = page.runs();
  ASSERT_EQ(runs.rowCount(), 3);
  const auto number = [&](int row, int column) {
    return runs.data(runs.index(row, column), Qt::UserRole).toDouble();
  };
  EXPECT_DOUBLE_EQ(number(0, RunsModel::kMedian), 8e6);
  EXPECT_DOUBLE_EQ(number(0, RunsModel::kRate), 32 / 0.008);
  EXPECT_DOUBLE_EQ(number(2, RunsModel::kSpeed), 2);
  EXPECT_EQ(number(2, RunsModel::kDevices), 4);
  EXPECT_DOUBLE_EQ(number(2, RunsModel::kEfficiency), 0.5);
  // The tab with their number is that of the settings, behind the runs and both tables of changes.
  const auto* tabs = page.findChild<QTabWidget*>();
  ASSERT_NE(tabs, nullptr);
  QStringList titles;
  for (int i = 0; i < tabs->count(); ++i)
    titles += tabs->tabText(i).section(QRegularExpression("[:(]"), 0, 0).trimmed();
  EXPECT_EQ(titles, QStringList({"Runs", "Operators and kernels", "Where the time goes", "Settings"}));
  // A run that is opened becomes B.
  compared.clear();
  auto* table = page.findChild<DataTable*>("", Qt::FindChildrenRecursively);
  for (DataTable* each : page.findChildren<DataTable*>()) {
    if (each->model() == &runs) table = each;
  }
  ASSERT_EQ(table->model(), &runs);
  table->setCurrentIndex(runs.index(2, 0));
  QTest::keyClick(table, Qt::Key_Return);
  ASSERT_TRUE(compared.wait(kPatienceMs));
  EXPECT_EQ(QFileInfo(QString::fromStdString(page.comparison()->b_path)).fileName(), "on4.pitwall");
}

TEST_F(SeveralFilesTest, ARunThatCannotBeReadIsARowThatSaysSo) {
  QSignalSpy measured(&window_.comparePage(), &ComparePage::runMeasured);
  window_.compareAll({files_[0], files_[1], QString::fromStdString(folder_ / "missing.pitwall")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return measured.count() == 3; }, kPatienceMs));
  const RunsModel& runs = window_.comparePage().runs();
  EXPECT_TRUE(runs.data(runs.index(2, 0)).toString().contains("missing.pitwall"));
  EXPECT_FALSE(runs.run(2).error.isEmpty());
}

TEST(CommandLine, TakesSeveralFiles) {
  const auto merged = parseCommandLine({"pitwall-gui", "--merge", "a", "b", "c"}, "1");
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(merged->merge);
  EXPECT_EQ(merged->files.size(), 3);
  EXPECT_TRUE(parseCommandLine({"pitwall-gui", "a", "b", "c"}, "1").has_value()) << "it is asked";
  EXPECT_FALSE(parseCommandLine({"pitwall-gui", "--export", "x.png", "a", "b", "c"}, "1").has_value());
  EXPECT_TRUE(
      parseCommandLine({"pitwall-gui", "--export", "x.png", "--merge", "a", "b", "c"}, "1").has_value());
}

}  // namespace
}  // namespace pitwall::gui::several_files_test
