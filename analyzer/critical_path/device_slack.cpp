// Slack over host threads, launches and streams.
//
// A sweep over the edges that the path follows, backwards in time. A delay of a host event delays all that
// follows on its thread, except a call that waits for the device anyway; work absorbs a delay as far as it
// waited for something else.
#include <algorithm>
#include <tuple>

#include "analyzer/critical_path/device_path.h"

namespace pitwall::analysis {
namespace {

class Slack {
 public:
  explicit Slack(const DeviceGraph& devices)
      : devices_(devices),
        threads_(devices.graph.resources.size(), kUnbound),
        nodes_(devices.graph.nodes.size(), kUnbound),
        launched_(devices.first_work, kUnbound),
        pushed_(devices.pushes == Graph::kNone ? 0 : devices.first_work, kUnbound) {}

  void run(CriticalPath& path) {
    const auto& nodes = devices_.graph.nodes;
    end_ = INT64_MIN;
    for (const auto& node : nodes) end_ = std::max(end_, node.end_ns);
    end_ = std::min(end_, path.window.end_ns);
    for (const auto& [time, order, index] : points()) {
      switch (order) {
        case Order::workEnds: workEnds(index); break;
        case Order::pushed: lower(threads_[devices_.pushes], pushed_[index]); break;
        case Order::hostStarts: hostStarts(index); break;
        case Order::hostEnds: hostEnds(index); break;
      }
    }
    for (std::uint32_t i = 0; i < nodes.size(); ++i) path.slack(keyOf(devices_, i), nodes_[i]);
  }

 private:
  static constexpr TimeNs kUnbound = INT64_MAX / 4;
  // At equal times later entries are processed first.
  enum class Order : std::uint8_t { pushed, workEnds, hostStarts, hostEnds };
  struct Point {
    TimeNs time_ns = 0;
    Order order = Order::workEnds;
    std::uint32_t index = 0;
  };

  std::vector<Point> points() const {
    const auto& nodes = devices_.graph.nodes;
    std::vector<Point> points;
    points.reserve(nodes.size() + devices_.first_work);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (devices_.isWork(i)) {
        points.push_back({nodes[i].end_ns, Order::workEnds, i});
      } else {
        points.push_back({nodes[i].start_ns, Order::hostStarts, i});
        points.push_back({nodes[i].end_ns, Order::hostEnds, i});
        if (!pushed_.empty() && devices_.isOfEngine(i))
          points.push_back({nodes[i].asked_ns, Order::pushed, i});
      }
    }
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return std::tuple(a.time_ns, a.order, a.index) > std::tuple(b.time_ns, b.order, b.index);
    });
    return points;
  }

  static void lower(TimeNs& value, TimeNs to) { value = std::min(value, to); }
  TimeNs untilEnd(TimeNs time) const { return std::max<TimeNs>(0, end_ - time); }
  const Node& node(std::uint32_t index) const { return devices_.node(index); }

  void workEnds(std::uint32_t index) {
    const auto& work = node(index);
    lower(nodes_[index], untilEnd(work.end_ns));
    const TimeNs slack = nodes_[index];
    const Binding binding = bindingOf(devices_, index);
    // It starts when the last of these has ended; the others may end as much later as they were early.
    const auto early = [&](TimeNs at) {
      if (binding.kind == Binding::Kind::launch) return std::max<TimeNs>(0, work.asked_ns - at);
      return binding.work == Graph::kNone ? TimeNs{0} : std::max<TimeNs>(0, node(binding.work).end_ns - at);
    };
    for (const auto& [from, kind] : devices_.graph.into(index)) {
      switch (kind) {
        case EdgeKind::order:
        case EdgeKind::data: lower(nodes_[from], slack + early(node(from).end_ns)); break;
        case EdgeKind::stream: lower(nodes_[from], slack); break;
        case EdgeKind::launch: lower(launched_[from], slack + early(work.asked_ns)); break;
        default: break;
      }
    }
  }

  void hostEnds(std::uint32_t index) {
    const auto& event = node(index);
    TimeNs& thread = threads_[event.resource];
    lower(thread, untilEnd(event.end_ns));
    lower(thread, nodes_[index]);  // what uses its result
    nodes_[index] = thread;
    if (const auto work = devices_.graph.into(index, EdgeKind::release); work != Graph::kNone)
      lower(nodes_[work], thread);
  }

  void hostStarts(std::uint32_t index) {
    const auto& event = node(index);
    TimeNs& thread = threads_[event.resource];
    if (const auto work = devices_.graph.into(index, EdgeKind::release); work != Graph::kNone) {
      // Until the work ends the call waits anyway.
      thread += std::max<TimeNs>(0, node(work).end_ns - event.start_ns);
    }
    lower(thread, launched_[index]);
    lower(nodes_[index], launched_[index]);
    if (devices_.isOfEngine(index)) return engineStarts(index, thread);
    if (const auto other = devices_.graph.into(index, EdgeKind::handOver); other != Graph::kNone)
      handOver(event, node(other), thread);
  }

  // Each of what it waited for may be as much later as it was before the last.
  void engineStarts(std::uint32_t index, TimeNs& thread) {
    const auto& op = node(index);
    const TimeNs own_end = devices_.ownEnd(op.resource, op.start_ns),
                 ready = devices_.readyAt(index, own_end);
    for (const auto& [from, kind] : devices_.graph.into(index)) {
      if (kind == EdgeKind::data) lower(nodes_[from], thread + ready - node(from).end_ns);
    }
    if (!pushed_.empty()) pushed_[index] = thread + ready - std::min(ready, op.asked_ns);
    thread = own_end == INT64_MIN ? kUnbound : thread + ready - std::min(ready, own_end);
  }

  // Work of another thread while this one had nothing to do.
  void handOver(const Node& event, const Node& other, TimeNs& thread) {
    lower(threads_[other.resource], thread);
    const TimeNs own_end = devices_.ownEnd(event.resource, event.start_ns);
    thread = own_end == INT64_MIN ? kUnbound : thread + other.end_ns - own_end;
  }

  const DeviceGraph& devices_;
  TimeNs end_ = 0;
  std::vector<TimeNs> threads_;   // of each resource, at the point that the sweep has reached
  std::vector<TimeNs> nodes_;     // of each node
  std::vector<TimeNs> launched_;  // the slack that its launched work leaves to a host event
  std::vector<TimeNs>
      pushed_;  // of the pushing thread, that an operator of the engine leaves to it; may be empty
};

}  // namespace

void addSlack(const DeviceGraph& devices, CriticalPath& path) { Slack(devices).run(path); }

}  // namespace pitwall::analysis
