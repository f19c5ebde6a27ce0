// Time in which no operator runs, by the operators before and after it.
#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"

namespace pitwall::analysis {

constexpr Column kHostGapColumns[] = {
    {"after", kText, "", "operator before the gap"},
    {"before", kText, "", "operator after the gap"},
    {"count", kInteger, "count", "gaps"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"short_count", kInteger, "count", "gaps shorter than 100 us"},
    {"short_ns", kInteger, "ns", "their time"},
    {"outlier_ns", kInteger, "ns", "time of longer gaps in outliers"},
    {"wait_count", kInteger, "count",
     "gaps in which a wait of the training thread for operators ends: the queue is empty"},
    {"wait_ns", kInteger, "ns", "their time"},
    {"ahead_ns", kInteger, "ns",
     "part of total_ns before the program waits for operators, all of it where it does not: its own code, "
     "which could "
     "run while operators do"},
    {"longest_ns", kInteger, "ns", "longest gap"},
    {"longest_start_ns", kInteger, "ns", "its begin, since the trace's start"},
    {"longest_iteration", kInteger, "number", "index of the iteration in which it begins"},
    {"position_share", kReal, "0..1", "mean begin within the iteration"},
};
constexpr TableDeclaration kHostGapTable{
    "analysis_host_gap",
    "A pair of operators, with the time between them in which no operator runs and no batch is waited for, "
    "in steady iterations; in all when none is steady.",
    kHostGapColumns};
namespace {

// Shorter ones are the cost of dispatching an operator; longer ones are the program's own work.
constexpr TimeNs kShortGap = 100'000;
constexpr std::size_t kMostPairs = 100'000;  // of a trace whose operators all differ; the rest is one row

struct Gap {
  std::int64_t count = 0, short_count = 0, after_wait = 0;
  TimeNs total_ns = 0, short_ns = 0, outlier_ns = 0, wait_ns = 0, ahead_ns = 0, longest_ns = 0,
         longest_start_ns = 0;
  std::int64_t longest_iteration = 0;
  double position = 0;  // sum of the positions in the iteration at which they begin, 0..1
};

class HostGaps final : public TimeChunkAnalysis {
 public:
  HostGaps(const Timeline& timeline, std::span<const Iteration> iterations)
      : iterations_(iterations),
        other_causes_(united(united(timeline.data_waits), united(timeline.communication))),
        waits_(timeline.engine_waits) {
    any_steady_ = std::any_of(iterations.begin(), iterations.end(), [](const Iteration& iteration) {
      return iteration.role == IterationRole::steady;
    });
  }

  void add(const TimeChunkView& now) override {
    for (const auto& op : now.chunk.operators) {
      if (last_end_ns_ > INT64_MIN && op.start_ns > last_end_ns_)
        addGap({last_end_ns_, op.start_ns}, last_op_, op.op.value);
      if (op.end_ns <= last_end_ns_) continue;
      last_end_ns_ = op.end_ns;
      last_op_ = op.op.value;
    }
  }

  Status write(Trace& trace, const Context&) override;

 private:
  // The iteration in which it begins; null outside of the counted ones.
  const Iteration* iterationAt(TimeNs at) {
    while (at_ < iterations_.size() && iterations_[at_].end_ns <= at) ++at_;
    if (at_ == iterations_.size() || iterations_[at_].start_ns > at) return nullptr;
    const bool counts = !any_steady_ || iterations_[at_].role == IterationRole::steady;
    return counts ? &iterations_[at_] : nullptr;
  }

  // Gaps begin in order of time, so cursors walk along. A gap may reach over iterations: its time is that of
  // its parts in those that count.
  void addGap(Interval gap, std::uint32_t after, std::uint32_t before) {
    TimeNs free = 0, in_outliers = 0;
    double position = 0;
    std::int64_t index = 0;
    for (TimeNs at = gap.start_ns; at < gap.end_ns;) {
      const Iteration* iteration = iterationAt(at);
      const bool inside = at_ < iterations_.size() && iterations_[at_].start_ns <= at;
      TimeNs end = gap.end_ns;
      if (at_ < iterations_.size()) end = inside ? iterations_[at_].end_ns : iterations_[at_].start_ns;
      end = std::min(end, gap.end_ns);
      if (iteration != nullptr) {
        if (free == 0) {
          index = iteration->index;
          position = static_cast<double>(at - iteration->start_ns) /
                     static_cast<double>(iteration->end_ns - iteration->start_ns);
        }
        const TimeNs part = withoutOtherCauses({at, end});
        free += part;
        if (iteration->is_outlier) in_outliers += part;
      }
      at = end;
    }
    if (free <= 0) return;
    auto& sum = gapOf(after, before);
    sum.position += position;
    addTo(sum, gap, free);
    if (free >= kShortGap) sum.outlier_ns += in_outliers;
    if (free <= sum.longest_ns) return;
    sum.longest_ns = free;
    sum.longest_start_ns = gap.start_ns;
    sum.longest_iteration = index;
  }

  Gap& gapOf(std::uint32_t after, std::uint32_t before) {
    const std::pair key(after, before);
    const auto found = gaps_.find(key);
    if (found != gaps_.end()) return found->second;
    return gaps_[gaps_.size() < kMostPairs ? key : std::pair(0U, 0U)];
  }

  TimeNs withoutOtherCauses(Interval part) {
    while (other_ < other_causes_.size() && other_causes_[other_].end_ns <= part.start_ns) ++other_;
    TimeNs free = part.end_ns - part.start_ns;
    for (std::size_t i = other_; i < other_causes_.size() && other_causes_[i].start_ns < part.end_ns; ++i) {
      free -=
          std::min(other_causes_[i].end_ns, part.end_ns) - std::max(other_causes_[i].start_ns, part.start_ns);
    }
    return free;
  }

  void addTo(Gap& sum, Interval gap, TimeNs free) {
    ++sum.count;
    sum.total_ns += free;
    if (free < kShortGap) ++sum.short_count, sum.short_ns += free;
    // The wait that ends in it emptied the queue. A wait that continues after it did not: another thread
    // pushed.
    while (wait_ < waits_.size() && waits_[wait_].end_ns < gap.start_ns) ++wait_;
    const bool drained = wait_ < waits_.size() && waits_[wait_].end_ns <= gap.end_ns;
    if (drained) ++sum.after_wait, sum.wait_ns += free;
    sum.ahead_ns += drained ? std::clamp<TimeNs>(waits_[wait_].start_ns - gap.start_ns, 0, free) : free;
  }

  std::span<const Iteration> iterations_;
  Intervals other_causes_;  // waits for data, communication
  std::span<const Interval> waits_;
  bool any_steady_ = false;
  TimeNs last_end_ns_ = INT64_MIN;  // of the operators so far
  std::uint32_t last_op_ = 0;
  std::size_t at_ = 0, other_ = 0, wait_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Gap> gaps_;  // by OperatorId.value
};

std::string titleOf(const Trace& trace, std::uint32_t op) {
  if (op == 0 || op > trace.operatorFacts().size()) return "operator";
  const auto& facts = trace.operatorFacts()[op - 1];
  std::string title = facts.layer.empty() ? facts.name : facts.layer + " " + facts.name;
  if (facts.phase != Phase::none) title += std::string(" ") + toString(facts.phase);
  return title;
}

Status HostGaps::write(Trace& trace, const Context&) {
  TempTable table(kHostGapTable);
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, Gap>> sorted(gaps_.begin(), gaps_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  for (const auto& [key, gap] : sorted) {
    table.row({titleOf(trace, key.first), titleOf(trace, key.second), gap.count, gap.total_ns,
               gap.short_count, gap.short_ns, gap.outlier_ns, gap.after_wait, gap.wait_ns, gap.ahead_ns,
               gap.longest_ns, gap.longest_start_ns, gap.longest_iteration,
               gap.position / static_cast<double>(gap.count)});
  }
  return table.write(trace);
}

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeHostGaps(const Timeline& timeline,
                                                   std::span<const Iteration> iterations) {
  return std::make_unique<HostGaps>(timeline, iterations);
}

}  // namespace pitwall::analysis
