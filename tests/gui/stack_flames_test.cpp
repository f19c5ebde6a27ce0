// The flame graph of sampled stacks.
#include "gui/models/stack_flames.h"

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::stack_flames_test {
namespace {

constexpr TimeNs kMs = 1'000'000;

class StackFlames : public ViewerTest {
 protected:
  // The first thread: 10 samples of main > step, 5 of main > load and its wait; the second one: 20 of feed. Each of 10 ms.
  std::string stackTrace(bool with_events) {
    const std::string path = folder_ / "stacks.pitwall";
    auto sink = createTrace(path).value();
    const ProcessId process = sink->process({1, "python3", "", 0});
    const ThreadId first = sink->thread({process, 1, "main"}), second = sink->thread({process, 2, "feeder"});
    const auto stack = [&](StackId caller, const char* function, const char* language = "python") {
      return sink->stack({caller, sink->frame({function, "a.py", 1, language})});
    };
    const StackId main = stack({}, "main"), step = stack(main, "step"),
                  load = stack(stack(main, "load"), "sleeping", kStateLanguage), feed = stack({}, "feed");
    const auto sample = [&](ThreadId thread, const std::vector<std::pair<StackId, int>>& parts) {
      std::vector<CounterSample> samples;
      const auto add = [&](StackId of) {
        samples.push_back({static_cast<TimeNs>(samples.size()) * 10 * kMs, static_cast<double>(of.value)});
      };
      for (const auto& [of, count] : parts) {
        for (int i = 0; i < count; ++i) add(of);
      }
      add({});
      sink->counters(sink->track({TrackKind::counter, process, thread, {}, "stack", kStackUnit}), samples);
    };
    sample(first, {{step, 10}, {load, 5}});
    sample(second, {{feed, 20}});
    for (const ThreadId thread : {first, second}) {
      const CounterSample samples[] = {{0, 1}, {200 * kMs, 0}};
      sink->counters(sink->track({TrackKind::counter, process, thread, {}, "cpu", "CPUs"}), samples);
    }
    const Event event{.start_ns = 0, .dur_ns = 50 * kMs, .name = sink->string("work")};
    if (with_events) sink->events(sink->track({TrackKind::thread, process, first, {}, "", ""}), {&event, 1});
    EXPECT_TRUE(sink->finish().has_value());
    return path;
  }

  FlamePage& shownPage() {
    FlamePage& page = window_.tracePages().flame();
    window_.show();
    window_.showPage(&page);
    EXPECT_TRUE(QTest::qWaitFor([&] { return page.source().isVisible(); }, kPatienceMs));
    return page;
  }
  // Total times in ms by path, of the tree that is shown.
  std::map<std::string, TimeNs> shown(FlamePage& page) {
    const FlameTree& tree = *page.canvas().tree();
    std::map<std::string, TimeNs> totals;
    for (std::uint32_t node = 1; node < tree.nodes.size(); ++node)
      totals[factsOf(tree, *window_.timelineView().timeline(), node).path] = tree.nodes[node].total_ns / kMs;
    return totals;
  }
  bool waitForStacks(FlamePage& page, TimeNs from = 0) {
    return QTest::qWaitFor(
        [&] {
          const FlameTree* tree = page.canvas().tree();
          return tree != nullptr && tree->of_stacks && tree->from_ns == from;
        },
        kPatienceMs);
  }
};

using Totals = std::map<std::string, TimeNs>;

TEST_F(StackFlames, AreChosenBesideEvents) {
  open(stackTrace(true));
  FlamePage& page = shownPage();
  ASSERT_TRUE(QTest::qWaitFor([&] { return page.canvas().tree() != nullptr; }, kPatienceMs));
  EXPECT_FALSE(page.canvas().tree()->of_stacks);
  page.source().setCurrentIndex(1);
  ASSERT_TRUE(waitForStacks(page));
  EXPECT_EQ(shown(page), (Totals{{"main (1)", 150},
                                 {"main (1) > main", 150},
                                 {"main (1) > main > step", 100},
                                 {"main (1) > main > load", 50},
                                 {"main (1) > main > load > sleeping", 50},
                                 {"feeder (2)", 200},
                                 {"feeder (2) > feed", 200}}));
  FlameCanvas& canvas = page.canvas();
  canvas.setFocus();
  for (int i = 0; i < 2; ++i) QTest::keyClick(&canvas, Qt::Key_Down);
  EXPECT_TRUE(page.facts().contains("self 200 ms; 20 samples")) << page.facts().toStdString();
  canvas.setSearch("LOAD");
  EXPECT_EQ(canvas.matches(), 1U);
  window_.timelineView().selectRange(TimeRange{95 * kMs, 125 * kMs});
  ASSERT_TRUE(waitForStacks(page, 95 * kMs));
  EXPECT_EQ(shown(page)["main (1) > main > step"], 5);
  EXPECT_EQ(shown(page)["main (1) > main > load"], 25);
  EXPECT_EQ(shown(page)["feeder (2)"], 30);
}

TEST_F(StackFlames, AreShownAtOnceWhereThereIsNothingElse) {
  open(stackTrace(false));
  FlamePage& page = shownPage();
  ASSERT_TRUE(waitForStacks(page));
  EXPECT_EQ(page.canvas().tree()->nodes[0].total_ns, 350 * kMs);
  // Another trace, without stacks.
  open(smallTrace());
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return page.canvas().tree() != nullptr && !page.canvas().tree()->of_stacks; }, kPatienceMs));
  EXPECT_FALSE(page.source().isVisible());
}

TEST_F(StackFlames, AreThoseOfTheThreadsThatAreShown) {
  auto trace = Trace::open(stackTrace(true)).value();
  const auto stacks = readSampledStacks(*trace).value();
  const auto timeline = loadTimeline(*trace).value();
  std::vector<std::size_t> tracks;
  for (std::size_t i = 0; i < timeline->tracks.size(); ++i) {
    if (timeline->tracks[i].thread == 2) tracks.push_back(i);
  }
  ASSERT_EQ(tracks.size(), 2u) << "its row, and its counter";
  const auto total = [&](const std::vector<std::size_t>& of) {
    return stackFlameTree(*stacks, *timeline, of, 0, 200 * kMs, FlameGrouping::merged).nodes[0].total_ns /
           kMs;
  };
  EXPECT_EQ(total(tracks), 200);
  EXPECT_EQ(total({}), 0);
}

}  // namespace
}  // namespace pitwall::gui::stack_flames_test
