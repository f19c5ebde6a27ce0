#include "analyzer/analysis/breakdown.h"

#include <algorithm>
#include <numeric>

#include "analyzer/analysis/statistics.h"

namespace pitwall::analysis {
namespace {

// What can hold at a moment; the first four are the phases in Category's order.
enum Channel : std::uint8_t {
  kForward,
  kBackward,
  kUpdate,
  kOther,
  kPending,
  kDataWait,
  kEngineWait,
  kLost,
  kChannels
};

struct Edge {
  TimeNs time_ns;
  Channel channel;
  std::int8_t delta;
};

Channel channelOf(Phase phase) {
  switch (phase) {
    case Phase::forward: return kForward;
    case Phase::backward: return kBackward;
    case Phase::update: return kUpdate;
    case Phase::none:
    case Phase::data: return kOther;
  }
  return kOther;
}

class Edges {
 public:
  Edges(TimeNs begin_ns, TimeNs end_ns) : begin_ns_(begin_ns), end_ns_(end_ns) {}

  void add(TimeNs start_ns, TimeNs end_ns, Channel channel) {
    start_ns = std::max(start_ns, begin_ns_);
    end_ns = std::min(end_ns, end_ns_);
    if (end_ns <= start_ns) return;
    edges_.push_back({start_ns, channel, 1});
    edges_.push_back({end_ns, channel, -1});
  }
  void add(std::span<const Interval> intervals, Channel channel) {
    for (const auto& interval : intervals) add(interval.start_ns, interval.end_ns, channel);
  }
  std::vector<Edge> sorted() && {
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
    return std::move(edges_);
  }

 private:
  TimeNs begin_ns_, end_ns_;
  std::vector<Edge> edges_;
};

std::vector<Edge> edgesOf(const Timeline& timeline, TimeNs begin_ns, TimeNs end_ns,
                          std::span<const OperatorFacts> facts) {
  Edges edges(begin_ns, end_ns);
  for (const auto& op : timeline.operators) {
    const bool known = op.op && op.op.value <= facts.size();
    edges.add(op.start_ns, op.end_ns, channelOf(known ? facts[op.op.value - 1].phase : Phase::none));
    edges.add(op.pushed_ns, op.start_ns, kPending);
  }
  edges.add(timeline.bulks, kPending);
  edges.add(timeline.data_waits, kDataWait);
  edges.add(timeline.engine_waits, kEngineWait);
  edges.add(timeline.losses, kLost);
  return std::move(edges).sorted();
}

Category categoryNow(const std::array<std::int64_t, kChannels>& open, bool blind) {
  for (std::uint8_t phase = kForward; phase <= kOther; ++phase) {
    if (open[phase] > 0) return static_cast<Category>(phase);
  }
  if (blind || open[kLost] > 0) return Category::unattributed;
  if (open[kDataWait] > 0) return Category::dataWait;
  if (open[kPending] > 0 || open[kEngineWait] > 0) return Category::engineOverhead;
  return Category::idle;
}

}  // namespace

const char* toString(Category category) {
  switch (category) {
    case Category::forward: return "forward";
    case Category::backward: return "backward";
    case Category::update: return "update";
    case Category::otherOperators: return "other operators";
    case Category::dataWait: return "data wait";
    case Category::engineOverhead: return "engine overhead";
    case Category::idle: return "idle";
    case Category::unattributed: return "unattributed";
  }
  return "unattributed";
}

std::vector<CategoryTimes> sweepCategories(const Timeline& timeline, std::span<const Iteration> iterations,
                                           std::span<const OperatorFacts> facts) {
  std::vector<CategoryTimes> times(iterations.size(), CategoryTimes{});
  if (iterations.empty()) return times;
  const auto edges = edgesOf(timeline, iterations.front().start_ns, iterations.back().end_ns, facts);
  const bool blind = timeline.operators.empty() && timeline.data_waits.empty();

  std::array<std::int64_t, kChannels> open{};
  std::size_t next_edge = 0;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    TimeNs now = iterations[i].start_ns;
    const TimeNs end = iterations[i].end_ns;
    while (now < end) {
      while (next_edge < edges.size() && edges[next_edge].time_ns <= now) {
        open[edges[next_edge].channel] += edges[next_edge].delta;
        ++next_edge;
      }
      const TimeNs until = next_edge < edges.size() ? std::min(edges[next_edge].time_ns, end) : end;
      times[i][static_cast<std::size_t>(categoryNow(open, blind))] += until - now;
      now = until;
    }
  }
  return times;
}

Breakdown summarizeBreakdown(const Iterations& iterations, std::span<const CategoryTimes> times) {
  Breakdown breakdown;
  breakdown.iteration_source = iterations.source;
  const auto& all = iterations.all;
  const bool any_steady = std::any_of(all.begin(), all.end(), [](const Iteration& iteration) {
    return iteration.role == IterationRole::steady;
  });
  CategoryTimes sums{};
  std::vector<double> durations;
  std::int64_t items = 0;
  bool items_known = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (any_steady && all[i].role != IterationRole::steady) {
      ++breakdown.skipped_iterations;
      continue;
    }
    ++breakdown.iterations;
    breakdown.wall_ns += all[i].end_ns - all[i].start_ns;
    durations.push_back(static_cast<double>(all[i].end_ns - all[i].start_ns));
    items += all[i].items;
    items_known = items_known && all[i].items > 0;
    for (std::size_t c = 0; c < kCategories; ++c) sums[c] += times[i][c];
  }
  breakdown.median_iteration_ns = static_cast<TimeNs>(quantile(durations, 0.5));
  const auto wall = static_cast<double>(breakdown.wall_ns);
  if (items_known && breakdown.wall_ns > 0)
    breakdown.items_per_second = static_cast<double>(items) * 1e9 / wall;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const double share = breakdown.wall_ns > 0 ? static_cast<double>(sums[c]) / wall : 0;
    breakdown.shares.push_back({toString(static_cast<Category>(c)), sums[c], share});
  }
  return breakdown;
}

}  // namespace pitwall::analysis
