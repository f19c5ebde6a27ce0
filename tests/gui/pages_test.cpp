// Event table, flame graph, SQL page and range groups against SQL over the same trace.
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <algorithm>
#include <random>

#include "gui/models/flame_tree.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::pages_test {
namespace {

using Rows = std::vector<std::vector<SqlValue>>;

class PagesTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.show();
  }

  Rows sql(const std::string& path, const std::string& text) {
    auto trace = Trace::open(path);
    EXPECT_TRUE(trace.has_value());
    auto rows = (*trace)->query(text);
    EXPECT_TRUE(rows.has_value()) << (rows.has_value() ? "" : rows.error().message);
    return rows.has_value() ? rows->rows : Rows{};
  }

  void waitForEvents(EventsPage& page) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return page.model().order() && !page.model().isBusy(); }, kPatienceMs));
  }

  // A thread with operators of two layers and phases, a stream with kernels.
  std::string mixedTrace() {
    const std::string path = folder_ / "mixed.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const ThreadId thread = trace.thread({process, 1, "main"});
    const DeviceId device = trace.device({"gpu", 0, "a device", 0});
    const TrackId cpu = trace.track({TrackKind::thread, process, thread, {}, "", ""});
    const TrackId gpu = trace.track({TrackKind::stream, process, {}, device, "stream 7", ""});
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = "conv1";
    facts.phase = Phase::forward;
    const OperatorId conv = trace.operatorFacts(facts);
    facts.name = "sgd_update";
    facts.layer = "fc1";
    facts.phase = Phase::update;
    const OperatorId update = trace.operatorFacts(facts);
    const StringId names[] = {trace.string("Convolution"), trace.string("sgd_update"),
                              trace.string("kernel_a")};
    std::vector<Event> host, kernels;
    for (int i = 0; i < 30; ++i) {
      const TimeNs at = i * 10'000;
      const bool first = i % 3 != 0;
      host.push_back({.start_ns = at,
                      .dur_ns = 3000 + 7 * i,
                      .name = names[first ? 0 : 1],
                      .op = first ? conv : update,
                      .kind = EventKind::operatorRun});
      host.push_back({.start_ns = at + 5000, .dur_ns = 1000 + i, .name = names[0], .kind = EventKind::wait});
      kernels.push_back(
          {.start_ns = at + 100, .dur_ns = 4000 - 5 * i, .name = names[2], .kind = EventKind::kernel});
    }
    trace.events(cpu, host);
    trace.events(gpu, kernels);
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }
};

TEST_F(PagesTest, EventTableSortsFiltersAndCopiesAsSqlSays) {
  const std::string path = smallTrace();
  open(path);
  EventsPage& page = window_.tracePages().events();
  window_.showPage(&page);
  waitForEvents(page);
  EXPECT_EQ(page.model().rowCount(), 120);

  page.table().sortByColumn(EventTableModel::kDuration, Qt::DescendingOrder);
  waitForEvents(page);
  const Rows by_duration = sql(path, "SELECT dur_ns FROM event ORDER BY dur_ns DESC");
  for (int row = 0; row < page.model().rowCount(); ++row) {
    const QVariant cell =
        page.model().data(page.model().index(row, EventTableModel::kDuration), Qt::UserRole);
    ASSERT_EQ(cell.toLongLong(), std::get<std::int64_t>(by_duration[static_cast<std::size_t>(row)][0]));
  }

  page.setWords("WAIT worker");  // a word of the name and one of the row
  waitForEvents(page);
  EXPECT_EQ(page.model().rowCount(), 20);
  page.table().copy();
  const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 21);
  EXPECT_EQ(lines[0], "name\tcategory\ttrack\tstart_ns\tdur_ns\tdepth");
  EXPECT_TRUE(lines[1].startsWith("wait\tother\tworker\t")) << lines[1].toStdString();

  QSignalSpy exported(&page, &EventsPage::exported);
  const QString csv = QString::fromStdString(folder_ / "events.csv");
  page.exportCsvTo(csv);
  ASSERT_TRUE(exported.count() > 0 || exported.wait(kPatienceMs));
  QFile file(csv);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll().count('\n'), 21);
}

TEST_F(PagesTest, ActivatingARowSelectsAndFitsTheEvent) {
  open(smallTrace());
  EventsPage& page = window_.tracePages().events();
  window_.showPage(&page);
  waitForEvents(page);
  page.table().setCurrentIndex(page.model().index(7, 0));
  const EventRef wanted = page.model().refAt(7);
  QTest::keyClick(&page.table(), Qt::Key_Return);
  const TimelineView& view = window_.timelineView();
  ASSERT_TRUE(view.selected().has_value());
  EXPECT_EQ(*view.selected(), wanted);
  EXPECT_EQ(window_.pageInFront(), 0);
  const Lane& lane = view.timeline()->tracks[wanted.track].lanes[wanted.lane];
  const View& seen = view.viewportModel().view();
  EXPECT_LE(seen.start_ns, static_cast<double>(lane.startNs(wanted.index)));
  EXPECT_LT(seen.endNs() - seen.start_ns, 2.0 * static_cast<double>(lane.durNs(wanted.index)));
}

// A comparison sort gives the same order for each key, on events of every length.
TEST(EventOrder, RadixSortAgreesWithComparison) {
  std::mt19937_64 random(7);
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"", "b", "a", "c"};
  timeline->processes.push_back({"p"});
  for (int t = 0; t < 3; ++t) {
    TimelineTrack track;
    track.title = "track " + std::to_string(t);
    Lane lane;
    TimeNs at = -5000;
    for (int i = 0; i < 400; ++i) {
      const auto dur = static_cast<TimeNs>(random() % (i % 50 == 0 ? 6'000'000'000 : 3000));
      lane.append(at, dur, static_cast<std::uint32_t>(1 + random() % 3),
                  static_cast<ColorIndex>(random() % 20));
      at += dur + static_cast<TimeNs>(random() % 100);
    }
    track.lanes.push_back(std::move(lane));
    timeline->tracks.push_back(std::move(track));
  }
  timeline->begin_ns = -5000;
  const EventNumbers numbers(timeline);
  ASSERT_EQ(numbers.size(), 1200U);
  const auto keyOf = [&](std::uint32_t number, EventKey key) -> std::int64_t {
    const EventRef ref = numbers.at(number);
    const Lane& lane = timeline->tracks[ref.track].lanes[ref.lane];
    if (key == EventKey::start) return lane.startNs(ref.index);
    if (key == EventKey::dur) return lane.durNs(ref.index);
    if (key == EventKey::name) return timeline->name(lane.name(ref.index))[0];
    return static_cast<std::int64_t>(ref.track);
  };
  for (const EventKey key : {EventKey::start, EventKey::dur, EventKey::name, EventKey::track}) {
    for (const bool descending : {false, true}) {
      std::vector<std::uint32_t> expected(numbers.size());
      for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
        return descending ? keyOf(b, key) < keyOf(a, key) : keyOf(a, key) < keyOf(b, key);
      });
      EXPECT_EQ(orderOf(numbers, {.key = key, .descending = descending, .words = ""}), expected);
    }
  }
}

// Nodes of one path sum up what SQL sums by name; what is inside is taken off what is around.
TEST_F(PagesTest, FlameGraphMergesByPathAndAgreesWithSql) {
  const std::string path = smallTrace();
  open(path);
  FlamePage& page = window_.tracePages().flame();
  QSignalSpy computed(&page, &FlamePage::computed);
  window_.showPage(&page);
  ASSERT_TRUE(computed.count() > 0 || computed.wait(kPatienceMs));
  const Timeline& timeline = *window_.timelineView().timeline();
  const FlameTree merged =
      flameTree(timeline, {0, 1}, timeline.begin_ns, timeline.end_ns, FlameGrouping::merged);
  ASSERT_EQ(merged.nodes[0].children, 1U);
  const FlameNode& step = merged.nodes[merged.childrenOf(0)[0]];
  ASSERT_EQ(step.children, 2U);
  std::map<std::string, TimeNs> totals{{timeline.name(step.name), step.total_ns}};
  for (const std::uint32_t child : merged.childrenOf(merged.childrenOf(0)[0]))
    totals[timeline.name(merged.nodes[child].name)] = merged.nodes[child].total_ns;
  for (const auto& row : sql(path, "SELECT name, sum(dur_ns) FROM event GROUP BY name"))
    EXPECT_EQ(totals[std::get<std::string>(row[0])], std::get<std::int64_t>(row[1]));
  EXPECT_EQ(step.self_ns, totals["step"] - totals["forward"] - totals["wait"]);
  EXPECT_EQ(step.count, 40);

  // By keyboard: the first row, the step in it, forward in that; zoomed in and out again.
  FlameCanvas& canvas = page.canvas();
  canvas.setFocus();
  for (int i = 0; i < 3; ++i) QTest::keyClick(&canvas, Qt::Key_Down);
  EXPECT_EQ(canvas.tree()->nameOf(timeline, canvas.selected()), "forward");
  EXPECT_TRUE(page.facts().contains("total 10.0 ms")) << page.facts().toStdString();
  QTest::keyClick(&canvas, Qt::Key_Right);
  EXPECT_EQ(canvas.tree()->nameOf(timeline, canvas.selected()), "wait");
  const double narrow = canvas.rectOf(canvas.selected()).width();
  QTest::keyClick(&canvas, Qt::Key_Return);
  EXPECT_GT(canvas.rectOf(canvas.selected()).width(), 5 * narrow);
  QTest::keyClick(&canvas, Qt::Key_Backspace);
  EXPECT_EQ(canvas.tree()->nameOf(timeline, canvas.zoomed()), "step");
  canvas.setSearch("wait");
  EXPECT_EQ(canvas.matches(), 2U);

  // Of a range: the parts within it.
  window_.timelineView().selectRange(TimeRange{100'000, 600'000});
  ASSERT_TRUE(QTest::qWaitFor([&] { return canvas.tree()->from_ns == 100'000; }, kPatienceMs));
  EXPECT_EQ(canvas.tree()->nodes[0].total_ns, 2 * 500'000);
}

TEST_F(PagesTest, FlameGraphOfInstantsAndOverlaps) {
  Timeline timeline;
  timeline.names = {"", "a", "b", "i"};
  timeline.processes.push_back({"p"});
  // a and b overlap, neither holds the other; instants within a.
  const std::vector<Event> events = {{.start_ns = 0, .dur_ns = 100, .name = StringId{1}},
                                     {.start_ns = 50, .dur_ns = 0, .name = StringId{3}},
                                     {.start_ns = 50, .dur_ns = 0, .name = StringId{3}},
                                     {.start_ns = 60, .dur_ns = 100, .name = StringId{2}}};
  TimelineTrack track;
  track.lanes = lanesOf(events, {});
  timeline.tracks.push_back(std::move(track));
  const FlameTree tree = flameTree(timeline, {0}, 0, 200, FlameGrouping::merged);
  ASSERT_EQ(tree.nodes[0].children, 2U);
  EXPECT_EQ(tree.nodes[0].total_ns, 200);
  EXPECT_EQ(tree.deepest, 2U);
  const FlameNode& a = tree.nodes[tree.childrenOf(0)[0]];
  EXPECT_EQ(timeline.name(a.name), "a");
  ASSERT_EQ(a.children, 1U);
  EXPECT_EQ(tree.nodes[tree.childrenOf(tree.childrenOf(0)[0])[0]].count, 2);
}

TEST_F(PagesTest, SqlPageAnswersKeepsHistoryAndOnlyReads) {
  open(smallTrace());
  SqlPage& page = window_.tracePages().sql();
  const auto ask = [&](const QString& text) {
    QSignalSpy answered(&page, &SqlPage::answered);
    page.setQuery(text);
    page.run();
    EXPECT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  };
  ask("SELECT name, count(*) AS n FROM event GROUP BY name ORDER BY name");
  ASSERT_EQ(page.model().rowCount(), 3);
  EXPECT_EQ(page.model().data(page.model().index(0, 0), Qt::DisplayRole).toString(), "forward");
  EXPECT_EQ(page.model().data(page.model().index(0, 1), Qt::UserRole).toLongLong(), 40);
  EXPECT_EQ(page.model().headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "n");
  ask("DELETE FROM track");
  EXPECT_TRUE(page.state().contains("read-only")) << page.state().toStdString();
  ask("SELECT nonsense");
  EXPECT_TRUE(page.state().contains("no such column")) << page.state().toStdString();
  ask("SELECT count(*) FROM analysis_iteration");
  EXPECT_EQ(page.model().rowCount(), 1) << page.state().toStdString();
  EXPECT_EQ(page.history().size(), 4);
  page.older();
  EXPECT_EQ(page.query(), "SELECT nonsense");
  page.newer();
  EXPECT_TRUE(page.query().contains("analysis_iteration"));
  EXPECT_EQ(SqlPage().history(), page.history());  // of the next start

  // Never ends by itself; yields no row.
  page.setQuery("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c");
  page.run();
  page.cancel();
  EXPECT_EQ(page.state(), "Stopped.");
  ask("SELECT 1");  // waits for the one before, which must have ended
  EXPECT_EQ(page.model().rowCount(), 1);
}

TEST_F(PagesTest, RangeGroupsAgreeWithSql) {
  const std::string path = mixedTrace();
  open(path);
  RangeView& view = window_.rangeView();
  const std::string facts =
      "count(*), sum(e.dur_ns), avg(e.dur_ns), min(e.dur_ns), max(e.dur_ns) FROM event e ";
  const std::string of_operator = "LEFT JOIN operator o ON o.id = e.operator GROUP BY 1 ORDER BY 3 DESC";
  const std::pair<RangeGrouping, std::string> groupings[] = {
      {RangeGrouping::name, "SELECT e.name, " + facts + "GROUP BY 1 ORDER BY 3 DESC"},
      {RangeGrouping::category, "SELECT e.kind, " + facts + "GROUP BY 1 ORDER BY 3 DESC"},
      {RangeGrouping::layer, "SELECT coalesce(o.layer, '(no operator)'), " + facts + of_operator},
      {RangeGrouping::phase, "SELECT coalesce(o.phase, '(no operator)'), " + facts + of_operator},
      {RangeGrouping::thread, "SELECT 'main', " + facts + "WHERE e.kind <> 'kernel'"},
      {RangeGrouping::stream, "SELECT 'gpu 0 stream 7', " + facts + "WHERE e.kind = 'kernel'"}};
  window_.timelineView().selectRange(TimeRange{0, 1'000'000});
  for (const auto& [grouping, question] : groupings) {
    QSignalSpy answered(&view, &RangeView::answered);
    if (view.grouping() != grouping) view.setGrouping(grouping);
    ASSERT_TRUE(answered.wait(kPatienceMs));
    const Rows rows = sql(path, question);
    ASSERT_EQ(view.model().rowCount(), static_cast<int>(rows.size())) << question;
    for (int i = 0; i < view.model().rowCount(); ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      const auto cell = [&](int column) {
        return view.model().data(view.model().index(i, column), Qt::UserRole);
      };
      EXPECT_EQ(cell(AggregateModel::kName).toString().toStdString(), std::get<std::string>(row[0]))
          << question;
      EXPECT_EQ(cell(AggregateModel::kCount).toLongLong(), std::get<std::int64_t>(row[1])) << question;
      EXPECT_EQ(cell(AggregateModel::kTotal).toLongLong(), std::get<std::int64_t>(row[2])) << question;
      EXPECT_NEAR(cell(AggregateModel::kMean).toDouble(), std::get<double>(row[3]), 1) << question;
      EXPECT_EQ(cell(AggregateModel::kMin).toLongLong(), std::get<std::int64_t>(row[4])) << question;
      EXPECT_EQ(cell(AggregateModel::kMax).toLongLong(), std::get<std::int64_t>(row[5])) << question;
    }
  }
}

TEST_F(PagesTest, HistogramCountsEveryEventOfTheName) {
  const std::string path = mixedTrace();
  open(path);
  HistogramView& view = window_.tracePages().histogram();
  window_.showDrawer(&view);
  QSignalSpy computed(&view, &HistogramView::computed);
  window_.find("kernel_a", true);
  ASSERT_TRUE(computed.count() > 0 || computed.wait(kPatienceMs));
  const DurationHistogram& histogram = view.chart().histogram();
  std::int64_t counted = 0;
  for (const DurationHistogram::Bin& bin : histogram.bins) {
    counted += bin.count;
    const Rows rows =
        sql(path, "SELECT count(*) FROM event WHERE name = 'kernel_a' AND dur_ns >= " +
                      std::to_string(bin.from_ns) + " AND dur_ns < " + std::to_string(bin.to_ns));
    const bool last = &bin == &histogram.bins.back();
    EXPECT_GE(bin.count, std::get<std::int64_t>(rows[0][0]));
    if (!last) {
      EXPECT_EQ(bin.count, std::get<std::int64_t>(rows[0][0]));
    }
  }
  EXPECT_EQ(counted, 30);
  EXPECT_EQ(histogram.facts.count, 30);
}

TEST_F(PagesTest, ModelsOfThePagesKeepTheRulesOfModels) {
  const std::string path = smallTrace();
  open(path);
  using Tester = QAbstractItemModelTester;
  EventTableModel events;
  SqlModel answers;
  NotesModel notes;
  CommandModel commands;
  const Tester a(&events, Tester::FailureReportingMode::Fatal),
      b(&answers, Tester::FailureReportingMode::Fatal), c(&notes, Tester::FailureReportingMode::Fatal),
      d(&commands, Tester::FailureReportingMode::Fatal);
  QSignalSpy ordered(&events, &EventTableModel::ordered);
  events.setTimeline(window_.timelineView().timeline());
  events.sort(EventTableModel::kName, Qt::DescendingOrder);
  ASSERT_TRUE(ordered.wait(kPatienceMs));
  EXPECT_EQ(events.data(events.index(0, 0), Qt::DisplayRole).toString(), "wait");
  events.setTimeline(nullptr);
  SqlSource source(path);
  answers.setAnswer(
      std::make_shared<const SqlAnswer>(source.run("SELECT 2 AS x UNION ALL SELECT NULL", false)));
  answers.sort(0, Qt::AscendingOrder);
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return answers.data(answers.index(0, 0), Qt::DisplayRole).toString() == "NULL"; }, kPatienceMs));
  EXPECT_EQ(notes.add(50, 60), 0);
  EXPECT_EQ(notes.add(10, 10), 0);
  EXPECT_TRUE(notes.setData(notes.index(0, NotesModel::kText), "first", Qt::EditRole));
  EXPECT_EQ(notes.next(10, true), 1);
  EXPECT_EQ(notes.at(55, 0), 1);
  notes.remove(1);
  EXPECT_EQ(notes.rowCount(), 1);
  commands.setTimeline(window_.timelineView().timeline());
  commands.setText("forw");
  ASSERT_GT(commands.rowCount(), 0);
  EXPECT_EQ(commands.command(0).text, "forward");
}

}  // namespace
}  // namespace pitwall::gui::pages_test
