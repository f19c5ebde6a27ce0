#include "analyzer/analysis/breakdown.h"

#include <algorithm>
#include <numeric>

#include "analyzer/analysis/statistics.h"

namespace pitwall::analysis {
namespace {

Category categoryOf(Phase phase) {
  switch (phase) {
    case Phase::forward: return Category::forward;
    case Phase::backward: return Category::backward;
    case Phase::update: return Category::update;
    case Phase::none:
    case Phase::data: return Category::otherOperators;
  }
  return Category::otherOperators;
}

using Lists = std::array<Intervals, kCategories>;

void addOperators(const Timeline& timeline, std::span<const OperatorFacts> facts, Lists& lists) {
  auto& pending = lists[static_cast<std::size_t>(Category::engineOverhead)];
  for (const auto& op : timeline.operators) {
    const bool known = op.op && op.op.value <= facts.size();
    const bool transfers =
        known && op.op.value <= timeline.is_transfer.size() && timeline.is_transfer[op.op.value - 1];
    const auto category =
        transfers ? Category::communication : categoryOf(known ? facts[op.op.value - 1].phase : Phase::none);
    addInterval(lists[static_cast<std::size_t>(category)], {op.start_ns, op.end_ns});
    if (op.pushed_ns >= op.start_ns) continue;
    // Pushes are not ordered by start: unite with the neighbours at least, most often that is all of them.
    if (!pending.empty() && op.pushed_ns >= pending.back().start_ns) {
      appendUnion(pending, {op.pushed_ns, op.start_ns});
    } else if (!pending.empty() && op.start_ns >= pending.back().start_ns) {
      pending.back() = {op.pushed_ns, std::max(pending.back().end_ns, op.start_ns)};
    } else {
      pending.push_back({op.pushed_ns, op.start_ns});
    }
  }
}

// Adds what the list covers of each iteration; both are ordered.
void distribute(std::span<const Interval> list, Category category, std::span<const Iteration> iterations,
                std::vector<CategoryTimes>& times) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const auto& iteration = iterations[i];
    while (from < list.size() && list[from].end_ns <= iteration.start_ns) ++from;
    auto& sum = times[i][static_cast<std::size_t>(category)];
    for (std::size_t k = from; k < list.size() && list[k].start_ns < iteration.end_ns; ++k) {
      sum += std::min(list[k].end_ns, iteration.end_ns) - std::max(list[k].start_ns, iteration.start_ns);
    }
  }
}

}  // namespace

const char* toString(Category category) {
  switch (category) {
    case Category::forward: return "forward";
    case Category::backward: return "backward";
    case Category::update: return "update";
    case Category::otherOperators: return "other operators";
    case Category::communication: return "communication";
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
  Lists lists;
  const auto list = [&lists](Category category) -> Intervals& {
    return lists[static_cast<std::size_t>(category)];
  };
  addOperators(timeline, facts, lists);
  auto& overhead = list(Category::engineOverhead);
  overhead = united(united(std::move(overhead)), united(timeline.bulks));
  overhead = united(overhead, united(timeline.engine_waits));
  list(Category::dataWait) = timeline.data_waits;
  const bool blind = timeline.operators.empty() && timeline.data_waits.empty();
  const Interval whole{iterations.front().start_ns, iterations.back().end_ns};
  list(Category::unattributed) = blind ? Intervals{whole} : timeline.losses;

  // In order of precedence; each takes what those before it left.
  Intervals taken;
  for (const auto category :
       {Category::forward, Category::backward, Category::update, Category::otherOperators,
        Category::communication, Category::unattributed, Category::dataWait, Category::engineOverhead}) {
    const auto own = united(std::move(list(category)));
    distribute(subtract(own, taken), category, iterations, times);
    if (category != Category::engineOverhead) taken = united(taken, own);
  }
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    TimeNs sum = 0;
    for (const TimeNs part : times[i]) sum += part;
    times[i][static_cast<std::size_t>(Category::idle)] = iterations[i].end_ns - iterations[i].start_ns - sum;
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
    const bool absent = static_cast<Category>(c) == Category::communication && sums[c] == 0;
    if (absent) continue;  // one device: nothing to communicate
    breakdown.shares.push_back({toString(static_cast<Category>(c)), sums[c], share});
  }
  return breakdown;
}

}  // namespace pitwall::analysis
