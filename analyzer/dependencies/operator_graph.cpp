#include "analyzer/dependencies/operator_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/analysis/track_kinds.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

class Builder {
 public:
  Builder(Graph& graph, std::span<const TrackInfo> tracks) : graph_(graph), tracks_(tracks) {}

  void addNodes(std::span<const OperatorInterval> operators) {
    graph_.nodes.reserve(operators.size());
    for (const auto& op : operators) {
      const auto index = static_cast<std::uint32_t>(graph_.nodes.size());
      const auto resource = resourceOf(op.track);
      graph_.nodes.push_back({.start_ns = op.start_ns,
                              .end_ns = op.end_ns,
                              .asked_ns = op.pushed_ns,
                              .op = op.op,
                              .resource = resource,
                              .kind = EventKind::operatorRun});
      if (op.correlation != 0) index_[op.correlation] = index;
      const auto before =
          isAsynchronous(infoOf(resource)) ? latestOfWorkers(resource, op.start_ns) : last_[resource];
      if (before != Graph::kNone) edges_.push_back({before, index, EdgeKind::order});
      last_[resource] = index;
    }
  }

  Status addDependencies(Trace& trace) {
    if (index_.empty()) return {};
    std::uint64_t low = UINT64_MAX, high = 0;
    for (const auto& [correlation, i] : index_)
      low = std::min(low, correlation), high = std::max(high, correlation);
    return trace.visitDependencies([&](std::span<const Dependency> dependencies) {
      for (const auto& [source, target, kind] : dependencies) {
        if (target < low || target > high) continue;
        const auto from = index_.find(source);
        const auto to = index_.find(target);
        // An operator can only wait for an earlier one; this also excludes cycles.
        if (from != index_.end() && to != index_.end() && from->second < to->second)
          edges_.push_back({from->second, to->second, EdgeKind::data});
      }
      return true;
    });
  }

  void finish() { graph_.setEdges(edges_); }

 private:
  // Of a track that is not in the trace: neither asynchronous nor a device's.
  const TrackInfo& infoOf(std::uint32_t resource) const {
    static const TrackInfo kUnknown{TrackKind::stream, {}, {}, {}, {}, {}};
    const auto track = graph_.resources[resource].track.value;
    return track <= tracks_.size() ? tracks_[track - 1] : kUnknown;
  }

  // A worker of the device started the operator, after it had ended the one before. Which one is not recorded: of
  // several workers the one that ended last. kNone where no worker is the device's alone.
  std::uint32_t latestOfWorkers(std::uint32_t resource, TimeNs start_ns) const {
    const auto workers = workers_.find(infoOf(resource).device);
    auto latest = Graph::kNone;
    if (workers == workers_.end()) return latest;
    for (const std::uint32_t r : workers->second) {
      if (last_[r] == Graph::kNone) continue;
      const TimeNs end = graph_.nodes[last_[r]].end_ns;
      if (end <= start_ns && (latest == Graph::kNone || end > graph_.nodes[latest].end_ns)) latest = last_[r];
    }
    return latest;
  }

  std::uint32_t resourceOf(std::uint32_t track) {
    const auto [place, is_new] =
        resources_.try_emplace(track, static_cast<std::uint32_t>(graph_.resources.size()));
    if (is_new) {
      graph_.resources.push_back({TrackId{track}, {}});
      last_.push_back(Graph::kNone);
      const TrackInfo& info = infoOf(place->second);
      graph_.resources.back().asynchronous = isAsynchronous(info);
      if (info.device && !isAsynchronous(info)) workers_[info.device].push_back(place->second);
    }
    return place->second;
  }

  Graph& graph_;
  const std::span<const TrackInfo> tracks_;
  std::vector<Edge> edges_;
  std::unordered_map<CorrelationId, std::uint32_t> index_;
  std::unordered_map<std::uint32_t, std::uint32_t> resources_;  // by track
  std::vector<std::uint32_t> last_;                             // node, by resource
  std::map<DeviceId, std::vector<std::uint32_t>> workers_;      // resources
};

}  // namespace

bool tellsOfAnEngine(std::span<const OperatorInterval> operators) {
  return std::any_of(operators.begin(), operators.end(),
                     [](const OperatorInterval& op) { return op.pushed_ns < op.start_ns; });
}

Result<Graph> graphOfOperators(Trace& trace, Interval window, std::vector<OperatorInterval> operators) {
  Graph graph;
  graph.window = window;
  Builder builder(graph, trace.tracks());
  builder.addNodes(operators);
  std::vector<OperatorInterval>().swap(operators);
  PITWALL_TRY(builder.addDependencies(trace));
  builder.finish();
  return graph;
}

}  // namespace pitwall::analysis
