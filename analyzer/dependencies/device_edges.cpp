#include "analyzer/dependencies/device_edges.h"

#include <algorithm>
#include <utility>

namespace pitwall::analysis {
namespace {

class Edges {
 public:
  explicit Edges(const DeviceGraph& devices) : devices_(devices) {}

  std::vector<Edge> all(std::span<const TimeNs> launch_end_ns) {
    const auto nodes = static_cast<std::uint32_t>(devices_.graph.nodes.size());
    edges_.reserve(2 * (nodes - devices_.first_work));
    for (std::uint32_t i = 0; i < devices_.first_work; ++i) addOfHost(i);
    for (auto i = devices_.first_work; i < nodes; ++i) addOfWork(i, launch_end_ns[i - devices_.first_work]);
    return std::move(edges_);
  }

 private:
  void add(std::uint32_t from, std::uint32_t to, EdgeKind kind) {
    if (from != Graph::kNone) edges_.push_back({from, to, kind});
  }
  const Node& node(std::uint32_t index) const { return devices_.node(index); }
  TimeNs endOf(std::uint32_t index) const { return index == Graph::kNone ? INT64_MIN : node(index).end_ns; }

  void addOfHost(std::uint32_t index) {
    const auto& event = node(index);
    add(devices_.releasedBy(index, event.end_ns), index, EdgeKind::release);
    if (event.parent != Graph::kNone || event.resource == devices_.pushes || devices_.isOfEngine(index))
      return;
    const TimeNs own_end = devices_.ownEnd(event.resource, event.start_ns);
    if (own_end < event.start_ns)
      add(devices_.ranMeanwhile(event.resource, own_end, event.start_ns), index, EdgeKind::handOver);
  }

  void addOfWork(std::uint32_t index, TimeNs launch_end_ns) {
    const auto& work = node(index);
    const bool is_first = index == devices_.first_work || node(index - 1).resource != work.resource;
    const auto before = is_first ? Graph::kNone : index - 1;
    add(before, index, EdgeKind::order);
    if (work.asked_on == Graph::kNone) {
      const auto last = endedBefore(index, Of::anyStream);
      if (before == Graph::kNone || endOf(before) < endOf(last)) add(last, index, EdgeKind::stream);
      return;
    }
    add(callOf(work, launch_end_ns), index, EdgeKind::launch);
    if (!devices_.has_stream_waits) return;
    const auto other = endedBefore(index, Of::otherStream);
    if (endOf(other) > std::max(work.asked_ns, endOf(before)) &&
        work.start_ns - endOf(other) <= DeviceGraph::kHandoverNs)
      add(other, index, EdgeKind::stream);
  }

  // The last work to end before this one starts, on any stream or on another one of the same device.
  enum class Of : std::uint8_t { anyStream, otherStream };
  std::uint32_t endedBefore(std::uint32_t index, Of of) const {
    constexpr std::size_t kMostLookedAt = 16;
    const auto& work = node(index);
    const auto& resources = devices_.graph.resources;
    const auto ended = devices_.workEnded(work.start_ns);
    for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
      const auto candidate = devices_.work_by_end[i];
      if (candidate == index) continue;
      if (of == Of::anyStream) return candidate;
      const auto stream = node(candidate).resource;
      if (stream != work.resource && resources[stream].device == resources[work.resource].device)
        return candidate;
    }
    return Graph::kNone;
  }

  // Graph::kNone where the call is not in the window.
  std::uint32_t callOf(const Node& work, TimeNs launch_end_ns) const {
    auto index = devices_.lastBefore(work.asked_on, work.asked_ns + 1);
    while (index != Graph::kNone &&
           (node(index).start_ns != work.asked_ns || node(index).end_ns != launch_end_ns))
      index = node(index).parent;
    return index;
  }

  const DeviceGraph& devices_;
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> deviceEdges(const DeviceGraph& devices, std::span<const TimeNs> launch_end_ns) {
  return Edges(devices).all(launch_end_ns);
}

}  // namespace pitwall::analysis
