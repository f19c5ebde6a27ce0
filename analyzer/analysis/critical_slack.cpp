// Slack over host threads, launches and streams.
//
// A sweep over the edges that the path follows, backwards in time. A delay of a host event delays all that
// follows on its thread, except a call that waits for the device anyway; work absorbs a delay as far as it
// waited for something else.
#include <algorithm>
#include <tuple>

#include "analyzer/analysis/wait_graph.h"

namespace pitwall::analysis {
namespace {

constexpr std::uint32_t kNone = WindowEvents::kNone;

class Slack {
 public:
  Slack(const WindowEvents& events, const WaitGraph& graph)
      : events_(events),
        graph_(graph),
        threads_(events.threads.size(), kUnbound),
        work_(events.work.size(), kUnbound),
        host_(events.host.size(), 0),
        launched_(events.host.size(), kUnbound) {}

  void run(CriticalPath& path) {
    end_ = INT64_MIN;
    for (const auto& work : events_.work) end_ = std::max(end_, work.end_ns);
    for (const auto& event : events_.host) end_ = std::max(end_, event.end_ns);
    end_ = std::min(end_, path.window.end_ns);
    for (const auto& [time, order, index] : points()) {
      switch (order) {
        case Order::workEnds: workEnds(index); break;
        case Order::hostStarts: hostStarts(index); break;
        case Order::hostEnds: hostEnds(index); break;
      }
    }
    for (std::uint32_t i = 0; i < events_.work.size(); ++i) path.slack(keyOf(events_.work[i]), work_[i]);
    for (std::uint32_t i = 0; i < events_.host.size(); ++i) path.slack(keyOf(events_.host[i]), host_[i]);
  }

 private:
  static constexpr TimeNs kUnbound = INT64_MAX / 4;
  // At equal times later entries are processed first.
  enum class Order : std::uint8_t { workEnds, hostStarts, hostEnds };
  struct Point {
    TimeNs time_ns = 0;
    Order order = Order::workEnds;
    std::uint32_t index = 0;
  };

  std::vector<Point> points() const {
    std::vector<Point> points;
    points.reserve(events_.work.size() + 2 * events_.host.size());
    for (std::uint32_t i = 0; i < events_.work.size(); ++i)
      points.push_back({events_.work[i].end_ns, Order::workEnds, i});
    for (std::uint32_t i = 0; i < events_.host.size(); ++i) {
      points.push_back({events_.host[i].start_ns, Order::hostStarts, i});
      points.push_back({events_.host[i].end_ns, Order::hostEnds, i});
    }
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return std::tuple(a.time_ns, a.order, a.index) > std::tuple(b.time_ns, b.order, b.index);
    });
    return points;
  }

  static void lower(TimeNs& value, TimeNs to) { value = std::min(value, to); }
  TimeNs untilEnd(TimeNs time) const { return std::max<TimeNs>(0, end_ - time); }

  void workEnds(std::uint32_t index) {
    const auto& work = events_.work[index];
    lower(work_[index], untilEnd(work.end_ns));
    const TimeNs slack = work_[index];
    const Binding& binding = graph_.binding(index);
    // It starts when the last of these has ended; the others may end as much later as they were early.
    const auto reach = [&](TimeNs at) {
      if (binding.kind == WaitedFor::launch) return WaitGraph::launchedAt(work) - at;
      return binding.other == kNone ? TimeNs{0} : events_.work[binding.other].end_ns - at;
    };
    if (work.before != kNone)
      lower(work_[work.before], slack + std::max<TimeNs>(0, reach(events_.work[work.before].end_ns)));
    if (binding.kind == WaitedFor::otherStream) lower(work_[binding.other], slack);
    if (work.call_thread == kNone) return;
    const auto call = callOf(work);
    if (call != kNone)
      lower(launched_[call], slack + std::max<TimeNs>(0, reach(WaitGraph::launchedAt(work))));
  }

  std::uint32_t callOf(const WindowEvents::Work& work) const {
    auto index = events_.lastBefore(work.call_thread, work.call_start_ns + 1);
    while (index != kNone && (events_.host[index].start_ns != work.call_start_ns ||
                              events_.host[index].end_ns != work.call_end_ns))
      index = events_.host[index].parent;
    return index;
  }

  void hostEnds(std::uint32_t index) {
    const auto& event = events_.host[index];
    TimeNs& thread = threads_[events_.thread_of[index]];
    lower(thread, untilEnd(event.end_ns));
    host_[index] = thread;
    if (const auto work = graph_.releasedBy(index, event.end_ns); work != kNone) lower(work_[work], thread);
  }

  void hostStarts(std::uint32_t index) {
    const auto& event = events_.host[index];
    const auto thread_index = events_.thread_of[index];
    TimeNs& thread = threads_[thread_index];
    if (const auto work = graph_.releasedBy(index, event.end_ns); work != kNone) {
      // Until the work ends the call waits anyway.
      thread += std::max<TimeNs>(0, events_.work[work].end_ns - event.start_ns);
    }
    lower(thread, launched_[index]);
    lower(host_[index], launched_[index]);
    if (event.parent == kNone) handOver(index, thread);
  }

  // Work of another thread while this one had nothing to do.
  void handOver(std::uint32_t index, TimeNs& thread) {
    const auto& event = events_.host[index];
    const auto thread_index = events_.thread_of[index];
    const auto before = events_.lastBefore(thread_index, event.start_ns);
    TimeNs own_end = INT64_MIN;
    for (auto i = before; i != kNone; i = events_.host[i].parent)
      own_end = std::max(own_end, events_.host[i].end_ns);
    if (own_end >= event.start_ns) return;
    const auto other = graph_.ranMeanwhile(thread_index, own_end, event.start_ns);
    if (other == kNone) return;
    lower(threads_[events_.thread_of[other]], thread);
    thread = own_end == INT64_MIN ? kUnbound : thread + events_.host[other].end_ns - own_end;
  }

  const WindowEvents& events_;
  const WaitGraph& graph_;
  TimeNs end_ = 0;
  std::vector<TimeNs> threads_;   // of each thread, at the point that the sweep has reached
  std::vector<TimeNs> work_;      // of each work
  std::vector<TimeNs> host_;      // of each host event
  std::vector<TimeNs> launched_;  // the slack that its launched work leaves to a host event
};

}  // namespace

void addSlack(const WindowEvents& events, const WaitGraph& graph, CriticalPath& path) {
  Slack(events, graph).run(path);
}

}  // namespace pitwall::analysis
