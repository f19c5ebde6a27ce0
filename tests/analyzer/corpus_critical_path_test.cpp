// The critical path through real traces, against HTA's.
#include <fmt/core.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/critical_path/path.h"
#include "tests/analyzer/analyzed_corpus.h"

namespace pitwall::test::corpus_critical_path_test {
namespace {

// The critical path through the window of a range of the program.
analysis::CriticalPath criticalPathOf(const Analyzed& a, const std::string& range, int which,
                                      TimeNs end_after_begin_ns = 0) {
  const auto gathered = analysis::gatherActivity(*a.trace);
  EXPECT_TRUE(gathered.has_value());
  const auto found =
      a.rows(fmt::format("SELECT start_ns, dur_ns FROM event WHERE name = '{}' AND kind = 'scope' ORDER BY "
                         "start_ns LIMIT 1 OFFSET {}",
                         range, which));
  if (found.rows.empty()) return {};
  const auto begin = std::get<std::int64_t>(found.rows[0][0]), dur = std::get<std::int64_t>(found.rows[0][1]);
  const auto path = analysis::criticalPathOfDevices(
      *a.trace, *gathered, {begin, begin + (end_after_begin_ns > 0 ? end_after_begin_ns : dur)},
      ProcessId{1});
  EXPECT_TRUE(path.has_value());
  return path.value();
}

// "PART NAME US" of each step.
std::vector<std::string> criticalSteps(const Analyzed& a, const std::string& range, int which,
                                       TimeNs end_after_begin_ns = 0) {
  std::vector<std::string> steps;
  for (const auto& step : criticalPathOf(a, range, which, end_after_begin_ns).steps) {
    const auto& name =
        step.key.op ? a.trace->operatorFacts()[step.key.op.value - 1].name : a.trace->string(step.key.name);
    steps.push_back(fmt::format("{} {} {}", toString(step.key.part), name.substr(0, 20),
                                (step.end_ns - step.start_ns) / 1000));
  }
  return steps;
}

// What the path passes, as HTA counts it: events that take time; their starts and ends; what is between two
// outermost events of a thread, or between a launch and its work.
struct Passed {
  std::int64_t events = 0, starts_and_ends = 0, links = 0;
};

Passed passedBy(const Analyzed& a, const analysis::CriticalPath& path) {
  Passed passed;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const auto& step = path.steps[i];
    const auto part = step.key.part;
    if (part == analysis::PathPart::kernel || part == analysis::PathPart::copy) {
      passed.events += 1, passed.starts_and_ends += 2;
    } else if (part == analysis::PathPart::operatorRun || part == analysis::PathPart::call) {
      // All that the path does on this thread: the one moment at which it leaves is the next part's.
      const TimeNs from = step.start_ns;
      const auto isOnThread = [&](const analysis::PathStep& s) {
        return s.track == step.track || s.key.part == analysis::PathPart::nothing;
      };
      while (i + 1 < path.steps.size() && isOnThread(path.steps[i + 1])) {
        ++i;
        if (path.steps[i].key.part == analysis::PathPart::nothing) passed.links += 1;
      }
      const auto counts = a.rows(fmt::format(
          "SELECT count(*), sum(start_ns >= {0}) + sum(start_ns + dur_ns < {1}) FROM event WHERE track = {2} "
          "AND kind IN ('operator', 'api') AND dur_ns > 0 AND start_ns < {1} AND start_ns + dur_ns > {0}",
          from, path.steps[i].end_ns, step.track.value));
      passed.events += std::get<std::int64_t>(counts.rows[0][0]);
      passed.starts_and_ends += std::get<std::int64_t>(counts.rows[0][1]);
    } else if (part == analysis::PathPart::launchDelay) {
      passed.links += 1;
    }
  }
  return passed;
}

bool holdsInOrder(const std::vector<std::string>& steps, const std::vector<std::string>& expected) {
  return std::search(steps.begin(), steps.end(), expected.begin(), expected.end()) != steps.end();
}

// HTA counts the starts and ends that its path passes as nodes; it weighs a launch from the begin of its
// call.
TEST(AnalysisCorpus, TheCriticalPathIsHtas) {
  PITWALL_NEEDS_CORPUS();
  const auto a =
      analyzeCorpus("hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz");
  ASSERT_EQ(a->error, "");
  const char* pass = "[param|pytorch.model.alex_net|0|0|0|measure|forward]";
  const auto steps = criticalSteps(*a, pass, 1);
  for (const auto& step : steps)
    EXPECT_TRUE(step.starts_with("operator") || step.starts_with("call") || step.starts_with("nothing"))
        << step;
  EXPECT_TRUE(holdsInOrder(
      steps, {"operator aten::relu_ 15", "operator aten::clamp_min_ 14", "call cudaLaunchKernel 17",
              "operator aten::clamp_min_ 15", "operator aten::relu_ 32"}));
  // Up to the end of the last kernel.
  const auto whole = passedBy(*a, criticalPathOf(*a, pass, 1, 242'690'000));
  EXPECT_EQ(whole.events, 159);
  EXPECT_EQ(whole.starts_and_ends, 315) << "nodes, which 314 edges join";
  EXPECT_EQ(whole.links, 21) << "the edges that HTA shows";
  // Up to the end of the fourth convolution's product: 27 us of launch (15 + 12), 7 us from kernel to kernel.
  const auto kernels = criticalSteps(*a, pass, 1, 222'937'000);
  EXPECT_TRUE(
      holdsInOrder(kernels, {"call cudaLaunchKernel 15", "launch delay  12", "kernel void fft2d_r2c_32x32 63",
                             "device delay  7", "kernel ampere_gcgemm_64x64_ 323"}))
      << fmt::format("{}", fmt::join(kernels, "\n"));
  const auto waiting = analyzeCorpus("hta/critical_path/cuda_event_sync/event_sync_trace.json.gz");
  ASSERT_EQ(waiting->error, "");
  EXPECT_TRUE(holdsInOrder(criticalSteps(*waiting, "ProfilerStep#100", 0),
                           {"kernel at::cuda::(anonymous 36", "call cudaEventSynchronize 8"}))
      << fmt::format("{}", fmt::join(criticalSteps(*waiting, "ProfilerStep#100", 0), "\n"));
}

}  // namespace
}  // namespace pitwall::test::corpus_critical_path_test
