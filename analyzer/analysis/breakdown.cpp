#include "analyzer/analysis/breakdown.h"

#include <algorithm>
#include <numeric>

#include "analyzer/analysis/samples.h"

namespace pitwall::analysis {
namespace {

Category ofPhase(Phase phase) {
  switch (phase) {
    case Phase::forward: return Category::forward;
    case Phase::backward: return Category::backward;
    case Phase::update: return Category::update;
    case Phase::none:
    case Phase::data: return Category::otherOperators;
  }
  return Category::otherOperators;
}

// Adds what the list covers of each iteration; both are ordered.
void distribute(std::span<const Interval> list, Category category, std::span<const Iteration> iterations,
                std::span<CategoryTimes> times) {
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

CategorySweep::CategorySweep(const Timeline& timeline, std::span<const Iteration> iterations,
                             std::span<const OperatorFacts> facts)
    : timeline_(timeline),
      iterations_(iterations),
      facts_(facts),
      times_(iterations.size(), CategoryTimes{}) {
  running_until_.fill(INT64_MIN);
  overhead_ = united(united(timeline.bulks), united(timeline.engine_waits));
  data_waits_ = united(timeline.data_waits);
  const bool blind = timeline.library_calls_only || (timeline.operators == 0 && timeline.data_waits.empty());
  if (!blind) {
    communication_ = united(timeline.communication);
    unattributed_ = united(timeline.losses);
  } else if (!iterations.empty()) {
    unattributed_ = {{iterations.front().start_ns, iterations.back().end_ns}};
  }
}

std::size_t CategorySweep::listOf(OperatorId op) const {
  if (timeline_.isTransfer(op)) return static_cast<std::size_t>(Category::communication);
  const bool known = op && op.value <= facts_.size();
  const Phase phase = known ? facts_[op.value - 1].phase : Phase::none;
  return phase == Phase::data ? kDataOperators : static_cast<std::size_t>(ofPhase(phase));
}

void CategorySweep::addOperators(std::span<const OperatorInterval> operators, Interval chunk, Lists& lists) {
  auto& pending = lists[static_cast<std::size_t>(Category::engineOverhead)];
  for (std::size_t c = 0; c < lists.size(); ++c) {
    if (running_until_[c] > chunk.start_ns)
      lists[c].push_back({chunk.start_ns, std::min(running_until_[c], chunk.end_ns)});
  }
  for (const auto& op : operators) {
    const std::size_t category = listOf(op.op);
    addInterval(lists[category], {op.start_ns, std::min(op.end_ns, chunk.end_ns)});
    running_until_[category] = std::max(running_until_[category], op.end_ns);
    const TimeNs pushed = std::max(op.pushed_ns, chunk.start_ns);
    if (pushed >= op.start_ns) continue;
    // Pushes are not ordered by start: unite with the neighbours at least, most often that is all of them.
    if (!pending.empty() && pushed >= pending.back().start_ns) {
      appendUnion(pending, {pushed, op.start_ns});
    } else if (!pending.empty() && op.start_ns >= pending.back().start_ns) {
      pending.back() = {pushed, std::max(pending.back().end_ns, op.start_ns)};
    } else {
      pending.push_back({pushed, op.start_ns});
    }
  }
}

// Those that overlap the time chunk.
std::span<const Iteration> CategorySweep::iterationsIn(Interval chunk) {
  while (first_iteration_ < iterations_.size() && iterations_[first_iteration_].end_ns <= chunk.start_ns)
    ++first_iteration_;
  std::size_t end = first_iteration_;
  while (end < iterations_.size() && iterations_[end].start_ns < chunk.end_ns) ++end;
  return iterations_.subspan(first_iteration_, end - first_iteration_);
}

void CategorySweep::add(std::span<const OperatorInterval> operators, TimeNs from_ns, TimeNs to_ns,
                        TimeNs pending_from_ns) {
  const Interval chunk{from_ns, to_ns};
  const auto iterations = iterationsIn(chunk);
  const auto times = std::span(times_).subspan(first_iteration_, iterations.size());
  Lists lists;
  const auto list = [&lists](Category category) -> Intervals& {
    return lists[static_cast<std::size_t>(category)];
  };
  addOperators(operators, chunk, lists);
  auto& overhead = list(Category::engineOverhead);
  // An operator that starts later is pending at least from its push to the time chunk's end.
  if (pending_from_ns < to_ns) overhead.push_back({std::max(pending_from_ns, from_ns), to_ns});
  overhead = united(united(std::move(overhead)), within(overhead_, from_ns, to_ns));
  const Intervals exchanges = within(communication_, from_ns, to_ns);
  auto& communication = list(Category::communication);
  communication.insert(communication.end(), exchanges.begin(), exchanges.end());
  list(Category::dataWait) = within(data_waits_, from_ns, to_ns);
  list(Category::unattributed) = within(unattributed_, from_ns, to_ns);

  // In order of precedence; each takes the time that the categories before it leave.
  Intervals taken;
  const auto take = [&](Intervals& from, Category category) {
    const auto own = united(std::move(from));
    distribute(subtract(own, taken), category, iterations, times);
    taken = united(taken, own);
  };
  for (const auto category :
       {Category::forward, Category::backward, Category::update, Category::otherOperators,
        Category::communication, Category::unattributed, Category::dataWait}) {
    take(list(category), category);
  }
  take(lists[kDataOperators], Category::otherOperators);
  take(overhead, Category::engineOverhead);
}

std::vector<CategoryTimes> CategorySweep::finish() {
  for (std::size_t i = 0; i < iterations_.size(); ++i) {
    TimeNs sum = 0;
    for (const TimeNs part : times_[i]) sum += part;
    times_[i][static_cast<std::size_t>(Category::idle)] =
        iterations_[i].end_ns - iterations_[i].start_ns - sum;
  }
  return std::move(times_);
}

Breakdown summarizeBreakdown(const Iterations& iterations, std::span<const CategoryTimes> times) {
  Breakdown breakdown;
  breakdown.iteration_source = iterations.source;
  const auto& all = iterations.all;
  const bool any_steady = std::any_of(all.begin(), all.end(), [](const Iteration& iteration) {
    return iteration.role == IterationRole::steady;
  });
  CategoryTimes sums{};
  Samples durations;
  std::int64_t items = 0;
  bool items_known = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (any_steady && all[i].role != IterationRole::steady) {
      ++breakdown.skipped_iterations;
      continue;
    }
    ++breakdown.iterations;
    breakdown.wall_ns += all[i].end_ns - all[i].start_ns;
    durations.add(all[i].end_ns - all[i].start_ns);
    items += all[i].items;
    items_known = items_known && all[i].items > 0;
    for (std::size_t c = 0; c < kCategories; ++c) sums[c] += times[i][c];
  }
  breakdown.median_iteration_ns = static_cast<TimeNs>(durations.quantile(0.5));
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
