// The page of kernels: launches by grid and block, what limits them, and the way to the timeline.
#include <QAbstractItemModelTester>
#include <QHeaderView>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::kernels_test {
namespace {

constexpr TimeNs kUs = 1000;

class KernelsTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 800);
    window_.show();
  }
  std::string kernelTrace() {
    const std::string path = folder_ / "kernels.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const DeviceId gpu = trace.device({"gpu", 0, "a device", 0});
    const auto stream = [&](const char* name) {
      return trace.track({TrackKind::stream, process, {}, gpu, name, ""});
    };
    KernelFacts wide, narrow;
    wide.grid = {128, 2, 1};
    wide.block = {256, 1, 1};
    wide.registers_per_thread = 96;
    wide.static_shared_bytes = 1024;
    wide.dynamic_shared_bytes = 3072;
    wide.theoretical_occupancy = 0.25;
    wide.limiter = "registers";
    narrow = wide;
    narrow.grid = {4, 1, 1};
    const KernelId a = trace.kernelFacts(wide), b = trace.kernelFacts(narrow);
    const StringId gemm = trace.string("void gemm<float>(float*)"), relu = trace.string("relu");
    const auto kernel = [](TimeNs at, TimeNs dur, StringId name, KernelId facts) {
      return Event{.start_ns = at * kUs,
                   .dur_ns = dur * kUs,
                   .name = name,
                   .kernel = facts,
                   .kind = EventKind::kernel};
    };
    trace.events(stream("stream 7"),
                 std::vector<Event>{kernel(0, 10, gemm, a), kernel(20, 30, gemm, a), kernel(60, 5, relu, {}),
                                    Event{.start_ns = 70 * kUs,
                                          .dur_ns = 90 * kUs,
                                          .name = trace.string("memcpy"),
                                          .kind = EventKind::copy}});
    trace.events(stream("stream 8"), std::vector<Event>{kernel(0, 20, gemm, a), kernel(30, 8, gemm, b)});
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }
  KernelsPage& page() { return window_.tracePages().kernels(); }
  void goThere() {
    QSignalSpy read(&page(), &KernelsPage::read);
    window_.actions().find("go.kernels")->trigger();
    ASSERT_TRUE(read.count() > 0 || read.wait(kPatienceMs));
  }
  QString cell(int row, int column) { return page().model().index(row, column).data().toString(); }
};

TEST_F(KernelsTest, LaunchesOfEqualGridAndBlockAreOneRow) {
  QAbstractItemModelTester tester(&page().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  open(kernelTrace());
  goThere();
  ASSERT_EQ(page().model().rowCount(), 3) << "two launches of gemm, relu; a copy is no kernel";
  EXPECT_EQ(page().model().group(0).count, 3);
  EXPECT_EQ(page().model().group(0).total_ns, 60 * kUs);
  EXPECT_EQ(page().model().group(0).longest_ns, 30 * kUs);
  EXPECT_EQ(cell(0, KernelsModel::kName), "gemm") << "short, as on the timeline";
  EXPECT_EQ(page().model().index(0, KernelsModel::kName).data(Qt::ToolTipRole).toString(),
            "void gemm<float>(float*)");
  EXPECT_EQ(cell(0, KernelsModel::kGrid), QString::fromUtf8("128 \u00d7 2 \u00d7 1"));
  EXPECT_EQ(cell(0, KernelsModel::kRegisters), "96");
  EXPECT_EQ(cell(0, KernelsModel::kShared), "4.0 KiB");
  EXPECT_EQ(cell(0, KernelsModel::kOccupancy), "25.0 %");
  EXPECT_EQ(cell(0, KernelsModel::kLimiter), "registers");
  EXPECT_EQ(cell(0, KernelsModel::kAchieved), "-") << "not counted";
  const int relu = page().model().rowCount() - 1;
  EXPECT_EQ(cell(relu, KernelsModel::kGrid), "-") << "not recorded";
  EXPECT_EQ(cell(relu, KernelsModel::kOccupancy), "-");
}

TEST_F(KernelsTest, ARowShowsItsLongestExecutionAndTheFilterAndTheColumnsWork) {
  open(kernelTrace());
  goThere();
  page().findChild<QLineEdit*>()->setText("RELU");
  ASSERT_EQ(page().model().rowCount(), 1);
  EXPECT_TRUE(page().state().startsWith("1 of 3")) << page().state().toStdString();
  page().findChild<QLineEdit*>()->clear();
  QHeaderView* header = page().table().horizontalHeader();
  header->setSortIndicator(KernelsModel::kGrid, Qt::AscendingOrder);
  EXPECT_EQ(page().model().group(0).name, "relu");
  EXPECT_EQ(page().model().group(2).blocks(), 256);
  page().table().setFocus();
  page().table().setCurrentIndex(page().model().index(2, 0));
  QTest::keyClick(&page().table(), Qt::Key_Return);
  const TimelineView& view = window_.timelineView();
  EXPECT_EQ(window_.pageInFront(), 0);
  ASSERT_TRUE(view.selected().has_value());
  const Lane& lane = view.timeline()->tracks[view.selected()->track].lanes[view.selected()->lane];
  EXPECT_EQ(lane.durNs(view.selected()->index), 30 * kUs);
}

// As the import of a PyTorch trace makes them: ranges beside the stream, a counter of the device with a sample at each.
std::string countedTrace(const std::string& path, bool joined, const KernelFacts* facts = nullptr) {
  auto sink = createTrace(path);
  EXPECT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const DeviceId gpu = trace.device({"gpu", 1, "a device", 0});
  const TrackId ranges = trace.track({TrackKind::stream, process, {}, gpu, "stream 0 counted ranges", ""});
  const StringId gemm = trace.string("gemm"), relu = trace.string("relu");
  const KernelId kernel = facts == nullptr ? KernelId{} : trace.kernelFacts(*facts);
  std::vector<Event> events;
  std::vector<Dependency> launches;
  for (int i = 0; i < 4; ++i) {
    events.push_back({.start_ns = i * 100 * kUs,
                      .dur_ns = (i == 0 ? 30 : 10) * kUs,
                      .correlation = static_cast<CorrelationId>(100 + i),
                      .name = i < 3 ? gemm : relu,
                      .kernel = kernel,
                      .kind = facts == nullptr ? EventKind::scope : EventKind::kernel});
    launches.push_back(
        {static_cast<CorrelationId>(1 + i), static_cast<CorrelationId>(100 + i), DependencyKind::launch});
  }
  trace.events(ranges, events);
  if (joined) trace.dependencies(launches);
  const TrackId active = trace.track({TrackKind::counter,
                                      process,
                                      {},
                                      {},
                                      "gpu 1: sm__warps_active.avg.pct_of_peak_sustained_active",
                                      "counted"});
  // None for the last range of gemm.
  trace.counters(active, std::vector<CounterSample>{{0, 20}, {100 * kUs, 60}, {300 * kUs, 0}});
  const TrackId other = trace.track({TrackKind::counter,
                                     process,
                                     {},
                                     {},
                                     "gpu 0: sm__warps_active.avg.pct_of_peak_sustained_active",
                                     "counted"});
  trace.counters(other, std::vector<CounterSample>{{0, 99}});
  EXPECT_TRUE(trace.finish().has_value());
  return path;
}

TEST_F(KernelsTest, CountedRangesAreKernelsWithTheirAchievedOccupancy) {
  open(countedTrace(folder_ / "counted.pitwall", true));
  goThere();
  ASSERT_EQ(page().model().rowCount(), 2);
  EXPECT_EQ(cell(0, KernelsModel::kName), "gemm");
  EXPECT_EQ(page().model().group(0).count, 3);
  EXPECT_EQ(cell(0, KernelsModel::kAchieved), "30.0 %") << "20 % of 30 us and 60 % of 10 us";
  EXPECT_EQ(cell(0, KernelsModel::kOccupancy), "-") << "the launch is not recorded";
  EXPECT_EQ(cell(1, KernelsModel::kAchieved), "0.0 %");
}

// As Pitwall counts them: with the launch.
TEST_F(KernelsTest, BothOccupanciesOfCountedKernels) {
  KernelFacts facts;
  facts.grid = {4, 1, 1}, facts.block = {256, 1, 1};
  facts.theoretical_occupancy = 0.5;
  open(countedTrace(folder_ / "recorded.pitwall", true, &facts));
  goThere();
  ASSERT_EQ(page().model().rowCount(), 2);
  EXPECT_EQ(page().model().group(0).count, 3);
  EXPECT_EQ(cell(0, KernelsModel::kAchieved), "30.0 %");
  EXPECT_EQ(cell(0, KernelsModel::kOccupancy), "50.0 %");
}

TEST_F(KernelsTest, ARangeThatNoCallLaunchedIsNoKernel) {
  open(countedTrace(folder_ / "ranges.pitwall", false));
  goThere();
  EXPECT_EQ(page().model().rowCount(), 0);
}

TEST_F(KernelsTest, ATraceWithoutKernelsSaysSo) {
  open(smallTrace());
  goThere();
  EXPECT_TRUE(page().state().contains("no kernels")) << page().state().toStdString();
  window_.closeTrace();
  EXPECT_TRUE(page().state().contains("No trace"));
}

}  // namespace
}  // namespace pitwall::gui::kernels_test
