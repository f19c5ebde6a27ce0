// The details of one event and of the settings, and that all of it fits into windows of several sizes.
#include <QHeaderView>
#include <QScrollBar>
#include <QTabWidget>
#include <QTableView>
#include <fstream>

#include "db/meta.h"
#include "gui/models/event_details.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::details_test {
namespace {

class DetailsTest : public ViewerTest {
 protected:
  // An operator whose FLOP and bytes are known on a machine whose roofline is, and a kernel that it launches.
  std::string knownTrace() {
    const std::string path = folder_ / "known.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    trace.meta(meta::kRooflineFlop, "1e11");
    trace.meta(meta::kRooflineCopy, "2e10");
    trace.setting({"OMP_NUM_THREADS", "4", SettingSource::environment});
    trace.setting({"MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice", SettingSource::byDefault});
    trace.tunable({"batch_size", 64, 32, 1, 512, SettingSource::environment});
    const ProcessId process = trace.process({1, "toy", "", 0});
    const TrackId host =
        trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
    const DeviceId device = trace.device({"gpu", 0, "a device", 0});
    const TrackId stream = trace.track({TrackKind::stream, process, {}, device, "stream 7", ""});
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = "conv1";
    facts.shapes = "64x1x28x28->64x20x24x24";
    facts.flop = 20'000'000;
    facts.bytes_read = 6'000'000;
    facts.bytes_written = 2'000'000;
    const OperatorId conv = trace.operatorFacts(facts);
    KernelFacts kernel_facts;
    kernel_facts.grid = {128, 2, 1};
    kernel_facts.block = {256, 1, 1};
    kernel_facts.registers_per_thread = 96;
    kernel_facts.static_shared_bytes = 1024;
    kernel_facts.dynamic_shared_bytes = 2048;
    kernel_facts.theoretical_occupancy = 0.25;
    kernel_facts.limiter = "registers";
    const KernelId kernel = trace.kernelFacts(kernel_facts);
    const Event run{.start_ns = 300'000,
                    .dur_ns = 1'000'000,
                    .pushed_ns = 100'000,
                    .ready_ns = 150'000,
                    .name = trace.string("Convolution"),
                    .op = conv,
                    .kind = EventKind::operatorRun};
    const Event work{.start_ns = 400'000,
                     .dur_ns = 500'000,
                     .name = trace.string("gemm"),
                     .kernel = kernel,
                     .kind = EventKind::kernel};
    trace.events(host, {&run, 1});
    trace.events(stream, {&work, 1});
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }

  // "Name=value; ..." of the event of that name.
  std::string factsAbout(const char* name) {
    window_.find(name, true);
    const QString wanted = name;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
          return window_.detailsView().topLevelItemCount() > 3 &&
                 window_.detailsView().topLevelItem(0)->text(1) == wanted;
        },
        kPatienceMs));
    QString facts = "; ";
    for (int i = 0; i < window_.detailsView().topLevelItemCount(); ++i) {
      const QTreeWidgetItem& item = *window_.detailsView().topLevelItem(i);
      facts += item.text(0) + "=" + item.text(1) + "; ";
    }
    return facts.toStdString();
  }
};

TEST_F(DetailsTest, FourTimesRatesAgainstTheRooflineAndSettings) {
  window_.show();
  open(knownTrace());
  const std::string facts = factsAbout("Convolution");
  for (const char* fact :
       {"; Waited for its operands=50.0 us; ", "; Queued for a worker=150 us; ", "; Ran for=1.00 ms; ",
        "; Layer=conv1; ", "; Shapes=64x1x28x28->64x20x24x24; ", "; Work=20.0 MFLOP; ",
        // 2e7 FLOP in a millisecond, of 1e11 a second; 8e6 bytes, of 2e10.
        "; Rate=20.0 GFLOP/s, 20.0 % of the machine's 100 GFLOP/s; ",
        "; Memory rate=8.00 GB/s, 40.0 % of the machine's 20.0 GB/s; ",
        "; Setting in effect=OMP_NUM_THREADS=4 (environment); ",
        "; Tunable in effect=batch_size=64 (environment); "})
    EXPECT_NE(facts.find(fact), std::string::npos) << fact << " in " << facts;
  EXPECT_EQ(facts.find("MXNET_ENGINE_TYPE"), std::string::npos);  // as it comes
}

TEST_F(DetailsTest, KernelFacts) {
  window_.show();
  open(knownTrace());
  const std::string facts = factsAbout("gemm");
  for (const char* fact :
       {"; Grid, blocks=128 x 2 x 1 = 256; ", "; Block, threads=256 x 1 x 1 = 256; ",
        "; Registers of a thread=96; ",
        "; Shared memory of a block=3.0 KiB (2.0 KiB of it requested at launch); ",
        "; Occupancy, theoretical=25.0 % of the warps that a multiprocessor holds; limited by registers; "})
    EXPECT_NE(facts.find(fact), std::string::npos) << fact << " in " << facts;
}

Report wideReport() {
  Report report;
  Finding finding;
  finding.title = "The engine that runs nothing in parallel is on";
  finding.gain_low = 0.011;
  finding.gain_high = 0.123;
  finding.proposals = {{"MXNET_ENGINE_TYPE", "NaiveEngine", "ThreadedEnginePerDevice", "why", false},
                       {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "15", "1048576", "why", false},
                       {"OMP_PLACES", "", "{0},{1},{2},{3},{4},{5},{6},{7}", "why", false}};
  report.findings = {finding};
  return report;
}

TEST_F(DetailsTest, EverySettingIsShownWholeInWindowsOfAnySize) {
  const auto report = std::make_shared<const Report>(wideReport());
  for (const QSize size : {QSize(1920, 1080), QSize(1280, 800), QSize(1024, 640)}) {
    MainWindow window;
    window.resize(size);
    window.show();
    window.findingsView().setReport(report);
    QApplication::processEvents();
    EXPECT_EQ(window.size(), size);  // nothing needs more
    auto* table = window.findingsView().findChild<QTableView*>();
    ASSERT_NE(table, nullptr);
    EXPECT_TRUE(table->isVisible());
    EXPECT_EQ(table->horizontalScrollBar()->maximum(), 0) << size.width();
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      for (int column = 0; column < table->model()->columnCount(); ++column) {
        const QModelIndex index = table->model()->index(row, column);
        EXPECT_GE(table->rowHeight(row), table->itemDelegate()
                                             ->sizeHint(
                                                 [&] {
                                                   QStyleOptionViewItem option;
                                                   option.initFrom(table);
                                                   option.rect = QRect(0, 0, table->columnWidth(column), 0);
                                                   option.features = QStyleOptionViewItem::WrapText;
                                                   option.widget = table;
                                                   return option;
                                                 }(),
                                                 index)
                                             .height())
            << row << ", " << column;
      }
    }
  }
}

TEST_F(DetailsTest, SettingsAreCopiedAndSavedAsTheirReadersWantThem) {
  FindingsView view;
  view.setReport(std::make_shared<const Report>(wideReport()));
  const auto& proposals = view.proposals();
  EXPECT_EQ(proposals.exportLine(proposals.index(0, 0)), "export MXNET_ENGINE_TYPE=ThreadedEnginePerDevice");
  // What a shell would take apart is quoted.
  EXPECT_EQ(proposals.exportLine(proposals.index(2, 0)),
            "export OMP_PLACES='{0},{1},{2},{3},{4},{5},{6},{7}'");
  QSignalSpy remarked(&view, &FindingsView::remarked), failed(&view, &FindingsView::failed);
  int written = 0;
  for (const EnvironmentFormatInfo& info : environmentFormats()) {
    const std::string path = folder_ / (std::string("settings") + info.extension);
    view.saveEnvironmentTo(QString::fromStdString(path), info.format);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, reportAsEnvironment(proposals.checkedReport(), info.format)) << info.name;
    EXPECT_EQ(remarked.count(), ++written) << info.name;
  }
  EXPECT_EQ(written, 6);
  view.saveEnvironmentTo(QString::fromStdString(folder_ / "none/settings.env"), EnvironmentFormat::bash);
  EXPECT_EQ(failed.count(), 1);
}

// A small window: rows of both traces in sight, no column beyond the edge; the drawer comes back
// afterwards.
TEST_F(DetailsTest, AComparisonHasRoomInASmallWindow) {
  window_.resize(1024, 640);
  window_.show();
  const std::string path = smallTrace();
  open(path);
  EXPECT_TRUE(window_.rangeView().parentWidget()->isVisibleTo(&window_));
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  window_.compareWith(QString::fromStdString(path));
  ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  QApplication::processEvents();
  EXPECT_EQ(window_.size(), QSize(1024, 640));
  for (const TimelineView* view : {&window_.comparePage().timelineA(), &window_.comparePage().timelineB()}) {
    const SceneGeometry g = view->geometryNow();
    EXPECT_GT(g.height - g.top(), 2 * view->rows().metrics().lane);
  }
  auto* tables = window_.comparePage().findChild<QTabWidget*>();
  EXPECT_EQ(tables->count(), 3);
  for (int i = 0; i < tables->count(); ++i) {
    tables->setCurrentIndex(i);
    QApplication::processEvents();
    const auto* table = qobject_cast<QTableView*>(tables->widget(i));
    EXPECT_FALSE(table->horizontalHeader()->isHidden());
    EXPECT_EQ(table->horizontalScrollBar()->maximum(), 0) << table->accessibleName().toStdString();
  }
  EXPECT_FALSE(window_.rangeView().parentWidget()->isVisibleTo(&window_));
  window_.showPage(&window_.timelineView());
  EXPECT_TRUE(window_.rangeView().parentWidget()->isVisibleTo(&window_));
  // The table of a range fits, too.
  QSignalSpy answered(&window_.rangeView(), &RangeView::answered);
  window_.timelineView().selectRange(TimeRange{0, 20'000'000});
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  QApplication::processEvents();
  EXPECT_EQ(window_.rangeView().findChild<QTableView*>()->horizontalScrollBar()->maximum(), 0);
}

// Bands with numbers, above the rows; none where there are no iterations.
TEST_F(DetailsTest, IterationsHaveARuler) {
  window_.show();
  open(knownTrace());
  EXPECT_EQ(window_.timelineView().geometryNow().iterations, 0);
  open(smallTrace());
  TimelineView& view = window_.timelineView();
  const SceneGeometry g = view.geometryNow();
  ASSERT_GT(g.iterations, 8);
  view.showTimes(2'000'000, 6'000'000);
  const QImage four = view.picture();
  std::set<QRgb> colors;
  int changes = 0;
  for (int x = g.titles + 1; x < four.width(); ++x)
    changes += four.pixel(x, g.minimap + g.ruler + 1) != four.pixel(x - 1, g.minimap + g.ruler + 1);
  EXPECT_GE(changes, 4);  // shaded in turn
}

// Lines over the rows, where they do not hide the events.
TEST_F(DetailsTest, MarksOfIterationsAreHiddenWhereTheyAreCloserThanFortyPixels) {
  window_.resize(1000, 640);
  window_.show();
  open(smallTrace());
  TimelineView& view = window_.timelineView();
  const SceneGeometry g = view.geometryNow();
  const auto has_line = [&](TimeNs at) {
    const QImage picture = view.picture();
    const int x = g.titles + static_cast<int>(view.viewportModel().view().xOf(static_cast<double>(at)));
    for (int y = g.height - 40; y < g.height - 1; ++y)  // below the two rows
      for (int beside = x - 1; beside <= x + 1; ++beside)
        if (picture.pixel(beside, y) != picture.pixel(x + 5, y)) return true;
    return false;
  };
  ASSERT_LT(g.laneWidth() / 20, 40);
  ASSERT_GT(g.laneWidth() / 4, 40);
  view.showTimes(2'500'000, 6'500'000);
  for (const TimeNs at : {3'000'000, 4'000'000, 5'000'000, 6'000'000}) EXPECT_TRUE(has_line(at)) << at;
  EXPECT_FALSE(has_line(4'500'000));
  view.showTimes(0, 20'000'000);
  for (const TimeNs at : {3'000'000, 4'000'000, 5'000'000, 6'000'000}) EXPECT_FALSE(has_line(at)) << at;
}

}  // namespace
}  // namespace pitwall::gui::details_test
