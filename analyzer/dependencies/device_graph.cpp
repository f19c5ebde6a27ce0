#include "analyzer/dependencies/device_graph.h"

#include <algorithm>
#include <span>

namespace pitwall::analysis {
namespace {

std::size_t endedBy(std::span<const std::uint32_t> by_end, const Graph& graph, TimeNs at) {
  const auto after = std::partition_point(by_end.begin(), by_end.end(),
                                          [&](std::uint32_t i) { return graph.nodes[i].end_ns <= at; });
  return static_cast<std::size_t>(after - by_end.begin());
}

}  // namespace

std::size_t DeviceGraph::workEnded(TimeNs at) const { return endedBy(work_by_end, graph, at); }

std::uint32_t DeviceGraph::lastBefore(std::uint32_t thread, TimeNs at) const {
  const auto begin = graph.nodes.begin() + thread_begin[thread],
             end = graph.nodes.begin() + thread_begin[thread + 1];
  const auto after =
      std::partition_point(begin, end, [at](const Node& event) { return event.start_ns < at; });
  return after == begin ? kNone : static_cast<std::uint32_t>(after - graph.nodes.begin() - 1);
}

std::uint32_t DeviceGraph::releasedBy(std::uint32_t call_index, TimeNs at) const {
  const auto& call = node(call_index);
  if (call.kind == EventKind::wait) return engineReleasedBy(call, at);
  if (call.kind != EventKind::api || (call.meaning & kLaunches) != 0) return kNone;
  constexpr std::size_t kMostLookedAt = 64;
  const auto ended = workEnded(at);
  for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
    const auto& work = node(work_by_end[i]);
    if (work.end_ns <= call.start_ns) return kNone;
    if (work.start_ns >= at) continue;
    const bool own = work.asked_on == call.resource && work.asked_ns == call.start_ns;
    if (own || (call.meaning & kSynchronises) != 0) return work_by_end[i];
  }
  return kNone;
}

std::uint32_t DeviceGraph::engineReleasedBy(const Node& wait, TimeNs at) const {
  constexpr std::size_t kMostLookedAt = 64;
  const auto last = [&](std::span<const std::uint32_t> by_end, bool work) {
    const auto ended = endedBy(by_end, graph, at);
    for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
      const auto& candidate = node(by_end[i]);
      if (candidate.end_ns <= wait.start_ns) break;
      if (work || (isOfEngine(by_end[i]) && candidate.resource != wait.resource)) return by_end[i];
    }
    return kNone;
  };
  const auto work = last(work_by_end, true), op = last(roots_by_end, false);
  if (work == kNone || op == kNone) return std::min(work, op);
  return node(work).end_ns >= node(op).end_ns ? work : op;
}

TimeNs DeviceGraph::readyAt(std::uint32_t op, TimeNs own_end) const {
  TimeNs ready = std::max(own_end, node(op).asked_ns);
  for (const auto& wait : graph.into(op)) {
    if (wait.kind == EdgeKind::data) ready = std::max(ready, node(wait.from).end_ns);
  }
  return std::min(ready, node(op).start_ns);
}

std::uint32_t DeviceGraph::ranMeanwhile(std::uint32_t thread, TimeNs own_end, TimeNs at) const {
  constexpr std::size_t kMostLookedAt = 16;
  const auto ended = endedBy(roots_by_end, graph, at);
  for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
    const auto& root = node(roots_by_end[i]);
    if (root.end_ns <= own_end) return kNone;
    if (root.resource == thread) continue;
    return root.start_ns >= own_end ? roots_by_end[i] : kNone;
  }
  return kNone;
}

TimeNs DeviceGraph::ownEnd(std::uint32_t thread, TimeNs at) const {
  TimeNs end = INT64_MIN;
  for (auto i = lastBefore(thread, at); i != kNone; i = node(i).parent) end = std::max(end, node(i).end_ns);
  return end;
}

// An edge from other work is made only where that is what was waited for.
Binding bindingOf(const DeviceGraph& devices, std::uint32_t work_index) {
  const auto& graph = devices.graph;
  const auto& work = graph.nodes[work_index];
  if (const auto other = graph.into(work_index, EdgeKind::stream); other != Graph::kNone)
    return {Binding::Kind::work, other};
  const bool has_launch = work.asked_on != Graph::kNone;
  auto before = graph.into(work_index, EdgeKind::order);
  const auto used = graph.into(work_index, EdgeKind::data);
  const auto end = [&](std::uint32_t node) { return graph.nodes[node].end_ns; };
  if (used != Graph::kNone && (before == Graph::kNone || end(used) > end(before))) before = used;
  if (before != Graph::kNone && (!has_launch || graph.nodes[before].end_ns > work.asked_ns))
    return {Binding::Kind::work, before};
  return {has_launch ? Binding::Kind::launch : Binding::Kind::nothing, Graph::kNone};
}

}  // namespace pitwall::analysis
