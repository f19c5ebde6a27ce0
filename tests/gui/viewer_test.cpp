// The viewer's window without a display (platform offscreen), on a small trace written here.
#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QMenu>
#include <QMenuBar>
#include <fstream>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::viewer_test {
namespace {

TEST_F(ViewerTest, OpensATraceAndShowsItsEventsAndBreakdown) {
  window_.show();
  open(smallTrace());
  const auto& timeline = window_.timelineView().timeline();
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->events, 120U);
  EXPECT_EQ(timeline->iterations.size(), 21U);
  ASSERT_EQ(timeline->tracks.size(), 2U);
  EXPECT_EQ(timeline->tracks[0].lanes.size(), 2U);
  // Something other than background is painted, and twice the same.
  const QImage picture = window_.timelineView().picture();
  EXPECT_EQ(picture, window_.timelineView().picture());
  std::set<QRgb> colors;
  for (int y = 0; y < picture.height(); y += 2) {
    for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
  }
  EXPECT_GT(colors.size(), 5U);
}

TEST_F(ViewerTest, KeysZoomPanSelectAndUndo) {
  window_.show();
  open(smallTrace());
  TimelineView& view = window_.timelineView();
  view.setFocus();
  const double whole = view.viewportModel().view().ns_per_px;
  key(Qt::Key_W);
  EXPECT_LT(view.viewportModel().view().ns_per_px, whole);
  key(Qt::Key_S);
  key(Qt::Key_W, Qt::ShiftModifier);
  const View near = view.viewportModel().view();
  EXPECT_NEAR(near.ns_per_px, whole / 3, whole / 100);
  key(Qt::Key_D);
  EXPECT_GT(view.viewportModel().view().start_ns, near.start_ns);
  key(Qt::Key_A);
  EXPECT_NEAR(view.viewportModel().view().start_ns, near.start_ns, near.ns_per_px);
  key(Qt::Key_0);
  EXPECT_NEAR(view.viewportModel().view().ns_per_px, whole, whole / 100);
  key(Qt::Key_Backspace);
  EXPECT_LT(view.viewportModel().view().ns_per_px, whole / 2);

  key(Qt::Key_0);
  key(Qt::Key_Period);
  ASSERT_TRUE(view.selected().has_value());
  const EventRef first = *view.selected();
  key(Qt::Key_Right);
  EXPECT_EQ(view.selected()->index, first.index + 1);
  key(Qt::Key_Left);
  key(Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(view.selected()->lane, 1U);
  key(Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(*view.selected(), first);
  key(Qt::Key_R);
  ASSERT_TRUE(view.range().has_value());
  EXPECT_EQ(view.range()->to - view.range()->from, 900'000);
  key(Qt::Key_Escape);
  EXPECT_FALSE(view.range().has_value());
  key(Qt::Key_Escape);
  EXPECT_FALSE(view.selected().has_value());
}

TEST_F(ViewerTest, ClickSelectsAndDetailsTell) {
  window_.show();
  open(smallTrace());
  window_.find("forward", true);
  ASSERT_TRUE(window_.timelineView().selected().has_value());
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_.detailsView().topLevelItemCount() > 3; }, kPatienceMs));
  QStringList facts;
  for (int i = 0; i < window_.detailsView().topLevelItemCount(); ++i)
    facts +=
        window_.detailsView().topLevelItem(i)->text(0) + "=" + window_.detailsView().topLevelItem(i)->text(1);
  EXPECT_TRUE(facts.contains("Name=forward")) << facts.join("; ").toStdString();
  EXPECT_TRUE(facts.contains("Ran for=500 us")) << facts.join("; ").toStdString();
  EXPECT_TRUE(window_.timelineView().accessibleDescription().contains("forward"));
}

// What the table says of a range equals SQL over the same trace.
TEST_F(ViewerTest, RangeAgreesWithSql) {
  window_.show();
  const std::string path = smallTrace();
  open(path);
  QSignalSpy answered(&window_.rangeView(), &RangeView::answered);
  window_.timelineView().selectRange(TimeRange{0, 20'000'000});
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  const auto rows =
      (*trace)->query("SELECT name, count(*), sum(dur_ns) FROM event GROUP BY name ORDER BY 3 DESC");
  ASSERT_TRUE(rows.has_value());
  const AggregateModel& model = window_.rangeView().model();
  ASSERT_EQ(model.rowCount(), static_cast<int>(rows->rows.size()));
  for (int i = 0; i < model.rowCount(); ++i) {
    const auto& row = rows->rows[static_cast<std::size_t>(i)];
    const auto cell = [&](int column) { return model.data(model.index(i, column), Qt::UserRole); };
    EXPECT_EQ(cell(AggregateModel::kName).toString().toStdString(), std::get<std::string>(row[0]));
    EXPECT_EQ(cell(AggregateModel::kCount).toLongLong(), std::get<std::int64_t>(row[1]));
    EXPECT_EQ(cell(AggregateModel::kTotal).toLongLong(), std::get<std::int64_t>(row[2]));
  }
}

Report reportWithTwoProposals() {
  Report report;
  Finding first, second;
  first.title = "first";
  first.gain_low = 0.1;
  first.gain_high = 0.2;
  first.proposals.push_back({"OMP_NUM_THREADS", "8", "2", "why", false});
  second.title = "second";
  second.gain_low = 0.05;
  second.gain_high = 0.5;
  second.proposals.push_back({"MXNET_ENGINE_TYPE", "x", "y", "why", true});
  report.findings = {first, second};
  return report;
}

TEST_F(ViewerTest, FindingsAndSettings) {
  FindingsView view;
  view.setReport(std::make_shared<const Report>(reportWithTwoProposals()));
  EXPECT_EQ(view.findings().rowCount(), 2);
  ASSERT_EQ(view.proposals().rowCount(), 2);
  view.copyExportLine();
  EXPECT_EQ(QApplication::clipboard()->text(), "export OMP_NUM_THREADS=2");
  // What the user had set himself is not checked.
  EXPECT_DOUBLE_EQ(view.proposals().combinedHigh(), 0.2);
  EXPECT_EQ(view.proposals().checkedReport().findings[1].proposals.size(), 0U);
}

// A share may be "< 0.1 %", which is no tag.
TEST_F(ViewerTest, TextAfterALessThanSignIsShown) {
  Report report = reportWithTwoProposals();
  report.findings[0].gain_low = 0.0001;
  report.findings[0].gain_method = "as measured";
  window_.findingsView().setReport(std::make_shared<const Report>(report));
  const QString text = window_.findingsView().text().toPlainText();
  EXPECT_TRUE(text.contains("< 0.1 % to")) << text.toStdString();
  EXPECT_TRUE(text.contains("the speed)")) << text.toStdString();
}

TEST_F(ViewerTest, ModelsKeepTheRulesOfModels) {
  const auto report = std::make_shared<const Report>(reportWithTwoProposals());
  FindingsModel findings;
  ProposalsModel proposals;
  AggregateModel aggregates;
  const QAbstractItemModelTester a(&findings, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester b(&proposals, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester c(&aggregates, QAbstractItemModelTester::FailureReportingMode::Fatal);
  findings.setReport(report);
  proposals.setReport(report);
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"", "x", "y"};
  aggregates.setRows(timeline,
                     {{.name = 1, .count = 2, .total_ns = 30}, {.name = 2, .count = 1, .total_ns = 40}});
  aggregates.sort(AggregateModel::kTotal, Qt::DescendingOrder);
  EXPECT_EQ(aggregates.row(0).name, 2U);
  EXPECT_TRUE(proposals.setData(proposals.index(1, 0), Qt::Checked, Qt::CheckStateRole));
  EXPECT_DOUBLE_EQ(proposals.combinedHigh(), 0.7);
}

TEST_F(ViewerTest, WhatCannotBeOpenedIsSaidInTheWindow) {
  window_.show();
  EXPECT_NE(errorAfterOpening(folder_ / "missing.pitwall"), "");
  std::ofstream(folder_ / "empty.pitwall");
  EXPECT_NE(errorAfterOpening(folder_ / "empty.pitwall"), "");
  std::ofstream(folder_ / "text.pitwall") << "no trace at all\n";
  EXPECT_NE(errorAfterOpening(folder_ / "text.pitwall"), "");
}

TEST_F(ViewerTest, EveryActionStandsInAMenuAndHasItsOwnKeys) {
  std::map<QString, QString> taken;
  int actions = 0;
  for (const QAction* menu : window_.menuBar()->actions()) {
    for (const QAction* action : menu->menu()->actions()) {
      if (action->isSeparator() || action->menu() != nullptr) continue;
      ++actions;
      for (const QKeySequence& key : action->shortcuts()) {
        const auto [at, is_new] = taken.emplace(key.toString(), action->text());
        EXPECT_TRUE(is_new) << key.toString().toStdString() << " is " << at->second.toStdString() << " and "
                            << action->text().toStdString();
      }
    }
  }
  EXPECT_GT(actions, 30);
}

}  // namespace
}  // namespace pitwall::gui::viewer_test

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  ::testing::InitGoogleTest(&argc, argv);
  QApplication app(argc, argv);
  QCoreApplication::setOrganizationName("pitwall-test");
  QCoreApplication::setApplicationName("viewer_test");
  // Settings of the tests stay among the tests.
  const pitwall::test::TempFolder settings;
  qputenv("XDG_DATA_HOME", QByteArray::fromStdString(settings.path().string()));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                     QString::fromStdString(settings.path().string()));
  return RUN_ALL_TESTS();
}
