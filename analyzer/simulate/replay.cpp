#include "analyzer/simulate/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "analyzer/simulate/usual.h"

namespace pitwall::simulate {
namespace {

// Host code and hand-overs between threads are the program's own: each has its own length.
bool isOfDevice(LinkKind kind) {
  return kind == LinkKind::order || kind == LinkKind::stream || kind == LinkKind::data ||
         kind == LinkKind::launch || kind == LinkKind::release;
}

// Of an operator that would end at `end` if there were a worker for it. Returns when it ends.
TimeNs onFreeWorker(std::vector<TimeNs>& free, TimeNs end, TimeNs own, TimeNs delay) {
  std::pop_heap(free.begin(), free.end(), std::greater<>());
  if (free.back() > 0) end = std::max(end, free.back() + delay + own);
  free.back() = end;
  std::push_heap(free.begin(), free.end(), std::greater<>());
  return end;
}

// A name with fewer executions says nothing of what is usual: then all delays of the kind do.
constexpr std::size_t kFewestExecutions = 8;

// Delays of one kind before one operator, kernel or call.
class DelayGroups {
 public:
  DelayGroups(const analysis::Graph& graph, const Tasks& tasks) : graph_(graph), tasks_(tasks) {
    groups_.reserve(tasks.links.size());
    for (std::uint32_t i = 0; i < tasks.all.size(); ++i) {
      for (const auto& link : tasks.linksOf(i)) {
        groups_.push_back(isOfDevice(link.kind) ? groupOf(tasks.all[i], link.kind) : kNoGroup);
        if (groups_.back() != kNoGroup && link.bound) delays_[groups_.back()].push_back(link.delay_ns);
      }
    }
    std::array<std::vector<TimeNs>, kLinkKinds> of_kind;
    for (const auto& link : tasks.links) {
      if (link.bound) of_kind[static_cast<std::size_t>(link.kind)].push_back(link.delay_ns);
    }
    std::array<TimeNs, kLinkKinds> usual_of_kind{};
    for (std::size_t kind = 0; kind < kLinkKinds; ++kind)
      usual_of_kind[kind] = std::llround(usualMeanOf(of_kind[kind]));
    for (std::size_t group = 0; group < delays_.size(); ++group) {
      const auto& list = delays_[group];
      usual_.push_back(list.size() < kFewestExecutions
                           ? usual_of_kind[static_cast<std::size_t>(kinds_[group])]
                           : std::llround(usualMeanOf(list)));
    }
  }

  TimeNs usual(std::size_t link) const {
    const auto group = groups_[link];
    const TimeNs recorded = tasks_.links[link].delay_ns;
    if (group == kNoGroup) return recorded;
    return tasks_.links[link].bound ? usual_[group] : recorded;
  }

 private:
  static constexpr std::uint32_t kNoGroup = UINT32_MAX;

  std::uint32_t groupOf(const Task& task, LinkKind kind) {
    std::uint64_t name = 0;
    if (task.node != Task::kNone) {
      const auto& node = graph_.nodes[task.node];
      name = node.op ? std::uint64_t{node.op.value} << 32 : node.name.value;
    }
    const auto [place, is_new] =
        numbers_.try_emplace(name * kLinkKinds + static_cast<std::uint64_t>(kind), delays_.size());
    if (is_new) delays_.emplace_back(), kinds_.push_back(kind);
    return static_cast<std::uint32_t>(place->second);
  }

  const analysis::Graph& graph_;
  const Tasks& tasks_;
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
  std::vector<std::uint32_t> groups_;  // by link
  std::vector<std::vector<TimeNs>> delays_;
  std::vector<LinkKind> kinds_;
  std::vector<TimeNs> usual_;
};

}  // namespace

Lengths lengthsOf(const Tasks& tasks) {
  Lengths lengths;
  lengths.own_ns.reserve(tasks.all.size());
  lengths.delay_ns.reserve(tasks.links.size());
  for (const auto& task : tasks.all) lengths.own_ns.push_back(task.own_ns);
  for (const auto& link : tasks.links) lengths.delay_ns.push_back(link.delay_ns);
  return lengths;
}

Lengths usualLengthsOf(const analysis::Graph& graph, const Tasks& tasks) {
  Lengths lengths = lengthsOf(tasks);
  const DelayGroups groups(graph, tasks);
  for (std::size_t i = 0; i < lengths.delay_ns.size(); ++i) lengths.delay_ns[i] = groups.usual(i);
  return lengths;
}

std::vector<TimeNs> Replayed::iterations() const {
  std::vector<TimeNs> durations;
  for (std::size_t i = 1; i < marks_ns.size(); ++i) durations.push_back(marks_ns[i] - marks_ns[i - 1]);
  return durations;
}

void replay(const Tasks& tasks, const Lengths& lengths, Replayed& out) {
  const std::size_t count = tasks.all.size();
  out.end_ns.resize(count);
  std::vector<TimeNs> clock(tasks.resources);
  std::vector<TimeNs> finished(tasks.marks_ns.size() + 1, INT64_MIN);  // work, by iteration
  const TimeNs* const own = lengths.own_ns.data();
  const TimeNs* const delay = lengths.delay_ns.data();
  TimeNs* const end = out.end_ns.data();
  std::vector<TimeNs> free(lengths.workers);  // a heap: when each worker is free
  const TimeNs order_ns = tasks.typical_ns[static_cast<std::size_t>(LinkKind::order)];
  for (std::size_t i = 0; i < count; ++i) {
    const Task& task = tasks.all[i];
    const std::size_t last = i + 1 < count ? tasks.all[i + 1].first_link : tasks.links.size();
    TimeNs at = task.isWork() ? 0 : clock[task.resource] + own[i];
    for (std::size_t l = task.first_link; l < last; ++l)
      at = std::max(at, end[tasks.links[l].from] + delay[l]);
    if (task.isWork()) {
      const bool needs_worker = !free.empty() && (task.flags & Task::kNoWorker) == 0;
      end[i] = needs_worker ? onFreeWorker(free, at + own[i], own[i], order_ns) : at + own[i];
      finished[task.iteration] = std::max(finished[task.iteration], end[i]);
    } else {
      end[i] = clock[task.resource] = at;
    }
  }
  out.marks_ns.assign(tasks.marks_ns.size(), 0);
  TimeNs latest = INT64_MIN;
  for (std::size_t i = 0; i < out.marks_ns.size(); ++i) {
    latest = std::max(latest, finished[i]);
    const auto point = tasks.marks[i];
    out.marks_ns[i] = std::max(latest, point == Task::kNone ? INT64_MIN : end[point]);
  }
}

}  // namespace pitwall::simulate
