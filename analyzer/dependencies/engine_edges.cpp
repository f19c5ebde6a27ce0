// The engine completes the operators of a bulk together, when the device has ended all work that they launched. Operators
// that use their results start then, or before, when that work is on its stream: their own work then waits for it.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/dependencies/device_edges.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

class EngineEdges {
 public:
  EngineEdges(const DeviceGraph& devices, const EngineOperators& engine)
      : devices_(devices), group_(devices.first_work), last_work_(devices.first_work, Graph::kNone) {
    for (std::uint32_t i = 0; i < group_.size(); ++i) group_[i] = i;
    for (std::size_t t = 0; t < engine.bulks.size(); ++t) groupBulks(t, engine.bulks[t]);
    findLastWork();
  }

  void add(std::uint32_t from, std::uint32_t to, std::vector<Edge>& edges) {
    if (group_[from] == group_[to]) return;  // started one after the other
    const auto work = last_work_[group_[from]];
    const auto ended = work == Graph::kNone ? from : work;
    if (devices_.node(ended).end_ns <= devices_.node(to).start_ns)
      edges.push_back({ended, to, EdgeKind::data});
    else if (ended != from && devices_.node(from).end_ns <= devices_.node(to).start_ns)
      addAhead(from, ended, to, edges);
  }

  // Of work that waited for several on other streams, that which ended last.
  void addBetweenStreams(std::vector<Edge>& edges) const {
    for (const auto& [work, last] : waited_for_)
      if (devices_.graph.into(work, EdgeKind::stream) == Graph::kNone)
        edges.push_back({last, work, EdgeKind::data});
  }

 private:
  void addAhead(std::uint32_t from, std::uint32_t ended, std::uint32_t to, std::vector<Edge>& edges) {
    edges.push_back({from, to, EdgeKind::data});
    const auto found = first_work_.find(to);
    if (found == first_work_.end()) return;
    const auto& own = devices_.node(found->second);
    const auto& before = devices_.node(ended);
    if (own.resource == before.resource || before.end_ns > own.start_ns) return;
    auto& last = waited_for_.try_emplace(found->second, ended).first->second;
    if (devices_.node(last).end_ns < before.end_ns) last = ended;
  }

  void groupBulks(std::size_t thread, const Intervals& bulks) {
    auto node = devices_.thread_begin[thread];
    const auto end = devices_.thread_begin[thread + 1];
    for (const auto& bulk : bulks) {
      while (node < end && devices_.node(node).start_ns < bulk.start_ns) ++node;
      for (const auto first = node; node < end && devices_.node(node).start_ns < bulk.end_ns; ++node)
        group_[node] = first;
    }
  }

  void findLastWork() {
    const auto& graph = devices_.graph;
    for (auto work = devices_.first_work; work < graph.nodes.size(); ++work) {
      auto node = graph.into(work, EdgeKind::launch);
      while (node != Graph::kNone && !devices_.isOfEngine(node)) node = graph.nodes[node].parent;
      if (node == Graph::kNone) continue;
      const auto first = first_work_.try_emplace(node, work).first;
      if (graph.nodes[work].start_ns < graph.nodes[first->second].start_ns) first->second = work;
      auto& last = last_work_[group_[node]];
      if (last == Graph::kNone || graph.nodes[last].end_ns < graph.nodes[work].end_ns) last = work;
    }
  }

  const DeviceGraph& devices_;
  std::vector<std::uint32_t> group_;      // by host event: the first one that completes together with it
  std::vector<std::uint32_t> last_work_;  // by the first of a group
  std::unordered_map<std::uint32_t, std::uint32_t> first_work_;  // by operator
  std::map<std::uint32_t, std::uint32_t> waited_for_;            // by the work that waited
};

}  // namespace

Status addEngineEdges(Trace& trace, const DeviceGraph& devices, const EngineOperators& engine,
                      std::vector<Edge>& edges) {
  EngineEdges engine_edges(devices, engine);
  PITWALL_TRY(trace.visitDependencies([&](std::span<const Dependency> dependencies) {
    for (const auto& [source, target, kind] : dependencies) {
      if (kind == DependencyKind::launch) continue;
      const auto from = engine.nodes.find(source), to = engine.nodes.find(target);
      if (from != engine.nodes.end() && to != engine.nodes.end())
        engine_edges.add(from->second, to->second, edges);
    }
    return true;
  }));
  engine_edges.addBetweenStreams(edges);
  return {};
}

}  // namespace pitwall::analysis
