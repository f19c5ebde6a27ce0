// The table of a range: names as groups, self times, filter, into rows and out again.
#include <QHeaderView>
#include <map>

#include "gui/models/flame_tree.h"
#include "gui/timeline/aggregate_groups.h"
#include "tests/gui/gesture_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::range_view_test {
namespace {

constexpr TimeNs kMs = 1'000'000;

class RangeViewTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 800);
    window_.show();
    const std::string path = folder_ / "numbered.pitwall";
    std::string text;
    for (int i = 0; i < 8; ++i) {
      const std::string n = std::to_string(i), at = std::to_string(i) + "ms ";
      text += "range ProfilerStep#" + n + " " + at + "900us\n";
      text += "range aten::mul,~seq~=~" + n + ",~op_id~=~" + std::to_string(100 + i) + " " + at + "300us\n";
      text += "range aten::add " + std::to_string(1000 * i + 50) + "us 100us\n";
    }
    text += "work kernel gemm 0 5ms\n";
    const auto status = test::makeTraceFile(text, path);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    open(path);
  }
  RangeView& table() { return window_.rangeView(); }
  void await(const std::function<void()>& act) {
    QSignalSpy answered(&table(), &RangeView::answered);
    act();
    ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  }
  void selectAll() {
    await([&] { window_.timelineView().selectRange(TimeRange{0, 8 * kMs}); });
  }
  std::map<std::string, AggregateRow> rows() {
    std::map<std::string, AggregateRow> rows;
    for (int i = 0; i < table().model().rowCount(); ++i)
      rows[table().model().label(i).toStdString()] = table().model().row(i);
    return rows;
  }
  int rowCalled(const QString& name) {
    for (int i = 0; i < table().model().rowCount(); ++i) {
      if (table().model().label(i) == name) return i;
    }
    return -1;
  }
};

TEST_F(RangeViewTest, NumberedNamesAreOneRowWithTheirSelfTime) {
  selectAll();
  auto found = rows();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found["ProfilerStep#*"].count, 8);
  EXPECT_EQ(found["ProfilerStep#*"].total_ns, 8 * 900'000);
  EXPECT_EQ(found["ProfilerStep#*"].self_ns, 8 * 600'000) << "less the multiplications, not what is in those";
  EXPECT_EQ(found["aten::mul"].total_ns, 8 * 300'000);
  EXPECT_EQ(found["aten::mul"].self_ns, 8 * 200'000);
  EXPECT_EQ(found["aten::mul"].p50_ns, 300'000);
  EXPECT_EQ(found["aten::add"].self_ns, 8 * 100'000);
  EXPECT_EQ(found["gemm"].self_ns, found["gemm"].total_ns);
}

TEST_F(RangeViewTest, ARowOpensIntoItsNamesAndBack) {
  selectAll();
  window_.showDrawer(&table());
  await([&] { table().openRow(rowCalled("aten::mul")); });
  EXPECT_EQ(rows().size(), 8U);
  EXPECT_EQ(rows().begin()->first, "aten::mul, seq = 0, op_id = 100");
  EXPECT_TRUE(table().title().startsWith("aten::mul")) << table().title().toStdString();
  await([&] { QTest::keyClick(&table().table(), Qt::Key_Backspace); });
  EXPECT_EQ(rows().size(), 4U);
  await([&] { table().setGrouping(RangeGrouping::stream); });
  ASSERT_EQ(rows().size(), 1U);
  await([&] { table().openRow(0); });
  ASSERT_EQ(rows().size(), 1U) << "what that stream did";
  EXPECT_EQ(rows().begin()->first, "gemm");
  // Another range begins with the user's grouping.
  await([&] { window_.timelineView().selectRange(TimeRange{0, 2 * kMs}); });
  EXPECT_EQ(table().grouping(), RangeGrouping::stream);
}

TEST_F(RangeViewTest, AGroupIsFoundOnTheTimelineByWhatItsNamesHaveInCommon) {
  selectAll();
  await([&] { table().openRow(rowCalled("ProfilerStep#*")); });
  table().openRow(3);
  const TimelineView& view = window_.timelineView();
  ASSERT_TRUE(view.selected().has_value());
  const Lane& lane = view.timeline()->tracks[view.selected()->track].lanes[view.selected()->lane];
  EXPECT_EQ(QString::fromStdString(view.timeline()->name(lane.name(view.selected()->index))),
            table().model().label(3));
}

TEST_F(RangeViewTest, TheFilterKeepsSharesOfAll) {
  selectAll();
  const auto share = [&](const QString& name) {
    return table().model().index(rowCalled(name), AggregateModel::kShare).data(Qt::UserRole).toDouble();
  };
  const double before = share("aten::add");
  table().setFilter("ATEN");
  EXPECT_EQ(rows().size(), 2U);
  EXPECT_DOUBLE_EQ(share("aten::add"), before);
  EXPECT_TRUE(table().title().contains("2 of 4 lines")) << table().title().toStdString();
}

// What a layer did, by name, and on to its event.
TEST_F(RangeViewTest, ALayerACategoryAndAPhaseOpenIntoTheirNames) {
  const std::string path = folder_ / "layers.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const TrackId track =
      trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
  std::vector<Event> events;
  TimeNs at = 0;
  for (const char* layer : {"conv1", "conv2"}) {
    OperatorFacts facts;
    facts.layer = layer;
    facts.phase = Phase::forward;
    for (const char* name : {"Convolution", "Activation"}) {
      facts.name = name;
      const OperatorId op = trace.operatorFacts(facts);
      for (int i = 0; i < (layer[4] == '1' ? 3 : 5); ++i, at += kMs)
        events.push_back({.start_ns = at,
                          .dur_ns = kMs / 2,
                          .name = trace.string(name),
                          .op = op,
                          .kind = EventKind::operatorRun});
    }
  }
  events.push_back({.start_ns = at, .dur_ns = kMs, .name = trace.string("gemm"), .kind = EventKind::wait});
  trace.events(track, events);
  ASSERT_TRUE(trace.finish().has_value());
  open(path);
  window_.showDrawer(&table());
  await([&] { window_.timelineView().selectRange(TimeRange{0, 100 * kMs}); });
  await([&] { table().setGrouping(RangeGrouping::layer); });
  ASSERT_EQ(rows().size(), 3U);
  EXPECT_EQ(rows()["conv2"].count, 10);
  await([&] { table().openRow(rowCalled("conv2")); });
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_EQ(rows()["Convolution"].count, 5);
  EXPECT_TRUE(table().title().startsWith("conv2")) << table().title().toStdString();
  await([&] { QTest::keyClick(&table().table(), Qt::Key_Backspace); });
  EXPECT_EQ(rows().size(), 3U);
  await([&] { table().setGrouping(RangeGrouping::category); });
  await([&] { table().openRow(rowCalled("wait")); });
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(rows()["gemm"].count, 1);
  table().openRow(0);
  ASSERT_TRUE(window_.timelineView().selected().has_value()) << "a name is found on the timeline";
  await([&] { table().setGrouping(RangeGrouping::phase); });
  EXPECT_EQ(rows()["forward"].count, 16) << "another grouping is of all again";
}

// The first click on a title of numbers brings the greatest to the top, of names the first.
TEST_F(RangeViewTest, ColumnsOfNumbersSortDescendingFirst) {
  selectAll();
  window_.showDrawer(&table());
  QHeaderView* header = table().table().horizontalHeader();
  const auto click = [&](int column) {
    QTest::mouseClick(
        header->viewport(), Qt::LeftButton, {},
        {header->sectionViewportPosition(column) + header->sectionSize(column) / 2, header->height() / 2});
  };
  click(AggregateModel::kCount);
  EXPECT_EQ(header->sortIndicatorOrder(), Qt::DescendingOrder);
  EXPECT_EQ(table().model().row(0).count, 8);
  click(AggregateModel::kCount);
  EXPECT_EQ(table().model().row(0).count, 1);
  click(AggregateModel::kName);
  EXPECT_EQ(table().model().label(0), "ProfilerStep#*");
}

TEST_F(RangeViewTest, TheFlameGraphMergesNumberedNames) {
  const auto& timeline = *window_.timelineView().timeline();
  std::vector<std::size_t> tracks(timeline.tracks.size());
  for (std::size_t t = 0; t < tracks.size(); ++t) tracks[t] = t;
  const FlameTree tree = flameTree(timeline, tracks, 0, 8 * kMs, FlameGrouping::merged);
  std::map<std::string, std::int64_t> counts;
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node)
    counts[factsOf(tree, timeline, node).path] = tree.nodes[node].count;
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"ProfilerStep#*", 8},
                                                         {"ProfilerStep#* > aten::mul", 8},
                                                         {"ProfilerStep#* > aten::mul > aten::add", 8},
                                                         {"gemm", 1}}));
}

}  // namespace
}  // namespace pitwall::gui::range_view_test
