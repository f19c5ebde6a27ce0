// The critical path over operators of random traces, against a replay of their dependency graph.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/analyzer/story.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::critical_path_replay_test {
namespace {

// The recorded graph with the recorded durations: an operator starts when it did, or when the last of what it
// waits for ends, whichever is later. `late` ends by `by` later than it did.
struct Run {
  TimeNs start = 0, end = 0;
  std::vector<std::size_t> before;
};
TimeNs replay(const std::vector<Run>& runs, std::size_t late, TimeNs by) {
  std::vector<TimeNs> ends(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TimeNs start = runs[i].start;
    for (const auto before : runs[i].before) start = std::max(start, ends[before]);
    ends[i] = start + runs[i].end - runs[i].start + (i == late ? by : 0);
  }
  return *std::max_element(ends.begin(), ends.end());
}

std::vector<Run> graphOf(const Story& story, std::vector<const WrittenEvent*>& operators) {
  for (const auto& written : story.events) {
    if (written.event.kind == EventKind::operatorRun) operators.push_back(&written);
  }
  std::sort(operators.begin(), operators.end(), [](const WrittenEvent* a, const WrittenEvent* b) {
    return a->event.start_ns < b->event.start_ns;
  });
  std::map<CorrelationId, std::size_t> index;
  std::map<std::string, std::size_t> last;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto& event = operators[i]->event;
    runs.push_back({event.start_ns, event.start_ns + event.dur_ns, {}});
    for (const auto& dependency : story.dependencies) {
      if (dependency.target == event.correlation) runs.back().before.push_back(index.at(dependency.source));
    }
    if (last.count(operators[i]->thread) != 0) runs.back().before.push_back(last[operators[i]->thread]);
    last[operators[i]->thread] = i;
    index[event.correlation] = i;
  }
  return runs;
}

TEST(Properties, TheCriticalPathReplaysTheRecordedTimeAndSlackIsExact) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const auto path = folder / fmt::format("{}.pitwall", seed);
    const auto story = Author(seed).write(1, 30);  // each layer once, so that its slack is one execution's
    writeStory(story, 0, path);
    const auto a = analyzed(path);
    std::vector<const WrittenEvent*> operators;
    const auto runs = graphOf(story, operators);
    const TimeNs end = replay(runs, runs.size(), 0);
    TimeNs recorded_end = 0;
    for (const auto& run : runs) recorded_end = std::max(recorded_end, run.end);
    ASSERT_EQ(end, recorded_end) << "replayed unchanged";
    // Before the first operator and after the last one nothing ran that the path could cross.
    const auto outside = a.number("SELECT dur_ns FROM analysis_iteration") - (end - runs.front().start);
    EXPECT_GE(outside, 0);
    EXPECT_EQ(a.number("SELECT sum(on_path_ns) FROM analysis_critical"), end - runs.front().start + outside)
        << "the longest path with its gaps is the whole time";
    EXPECT_GE(
        a.number(
            "SELECT sum(on_path_ns) FROM analysis_critical WHERE title IN ('nothing', 'engine overhead')"),
        outside);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto slack =
          a.number(fmt::format("SELECT slack_min_ns FROM analysis_critical WHERE title = '{} Convolution'",
                               operators[i]->op.layer));
      ASSERT_GE(slack, 0) << operators[i]->op.layer;
      EXPECT_EQ(replay(runs, i, slack), end) << operators[i]->op.layer << " may end so much later";
      EXPECT_EQ(replay(runs, i, slack + 1), end + 1)
          << operators[i]->op.layer << " but not a nanosecond more";
    }
    EXPECT_EQ(
        a.number("SELECT count(*) FROM analysis_critical WHERE slack_min_ns = 0 AND on_path_ns > 0") > 0,
        true);
  }
}

}  // namespace
}  // namespace pitwall::test::critical_path_replay_test
