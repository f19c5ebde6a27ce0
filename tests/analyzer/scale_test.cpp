// A trace of a million events is analyzed in seconds, not minutes.
#include <gtest/gtest.h>

#include <chrono>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/operators.h"

namespace pitwall::analysis {
namespace {

Timeline longTimeline(int iterations, int operators) {
  Timeline timeline;
  TimeNs now = 0;
  for (int i = 0; i < iterations; ++i) {
    for (int op = 0; op < operators; ++op) {
      timeline.operators.push_back(
          {now, now + 700, now - 5000, 0, OperatorId{static_cast<std::uint32_t>(op + 1)}});
      now += 1000;
    }
    timeline.data_waits.push_back({now, now + 500});
    now += 500;
  }
  timeline.end_ns = now;
  return timeline;
}

double secondsFor(const Timeline& timeline, std::span<const OperatorFacts> facts) {
  const auto start = std::chrono::steady_clock::now();
  const auto iterations = findIterations(timeline, {});
  const auto times = sweepCategories(timeline, iterations.all, facts);
  EXPECT_GT(summarizeBreakdown(iterations, times).wall_ns, 0);
  EXPECT_FALSE(tabulateOperators(timeline, iterations.all, facts).rows.empty());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Scale, TimeGrowsAboutLinearlyToAMillionOperators) {
  const std::vector<OperatorFacts> facts(40);
  const double small = secondsFor(longTimeline(2500, 40), facts);
  const double large = secondsFor(longTimeline(25000, 40), facts);
  EXPECT_LT(large, 40 * small + 1) << "10 times the events";
  EXPECT_LT(large, 30);  // a second or two; generous for sanitizers and busy machines
}

}  // namespace
}  // namespace pitwall::analysis
