// The path is walked backwards from what ends last in the window.
//
// A piece of device work began when the work before it on its stream had ended and its launch had arrived:
// the later of the two is what it waited for. If a stream waits for another one's event in this trace, work
// that begins at most 10 us after other work of its device ended, and after both of these, waited for that.
//
// On a host thread the path goes through the innermost event at each moment. A call that waits for the device
// was let go by the work that ended last within it; a call that copies, by its own copy. Where the thread has
// no event at all, it is taken to have waited for the thread of its process that ran last, if that began
// after this one had nothing left to do; else nothing is known of the time.
//
// Slack: a sweep over the same edges, backwards in time. A delay of a host event delays all that follows on
// its thread, but for a call that waits for the device anyway; work takes up a delay as far as it waited for
// something else.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "analyzer/analysis/critical_path.h"
#include "analyzer/analysis/window_events.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kMostEvents = 200'000;
constexpr TimeNs kHandoverNs = 10'000;  // from the end of the work waited for to the start of the waiting one
constexpr std::uint32_t kNone = WindowEvents::kNone;

enum class WaitedFor : std::uint8_t { nothing, streamWork, otherStream, launch };

struct Binding {
  WaitedFor kind = WaitedFor::nothing;
  std::uint32_t other = kNone;  // the work, of streamWork and otherStream
};

class Graph {
 public:
  explicit Graph(const WindowEvents& events) : events_(events), bindings_(events.work.size()) {
    for (std::uint32_t i = 0; i < events.work.size(); ++i) bindings_[i] = bind(i);
  }

  const Binding& binding(std::uint32_t work) const { return bindings_[work]; }
  // Work whose launch was under way when the stream became free is counted as queued, as others count it.
  static TimeNs launchedAt(const WindowEvents::Work& work) { return work.call_start_ns; }

  // The work that let a call go on, of what had ended by `at`; kNone when it did not wait.
  std::uint32_t releasedBy(std::uint32_t host, TimeNs at) const {
    const auto& call = events_.host[host];
    if (call.kind != EventKind::api || (call.meaning & kLaunches) != 0) return kNone;
    constexpr std::size_t kMostLookedAt = 64;
    const auto ended = events_.workEnded(at);
    for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
      const auto index = events_.work_by_end[i];
      const auto& work = events_.work[index];
      if (work.end_ns <= call.start_ns) return kNone;
      if (work.start_ns >= at) continue;
      const bool own = work.call_thread == events_.thread_of[host] && work.call_start_ns == call.start_ns;
      if (own || (call.meaning & kSynchronises) != 0) return index;
    }
    return kNone;
  }

  // The root of another thread that ended last by `at`, if it began when or after this one ended; kNone =
  // none.
  std::uint32_t ranMeanwhile(std::uint32_t thread, TimeNs own_end, TimeNs at) const {
    constexpr std::size_t kMostLookedAt = 16;
    const auto ended = events_.rootsEnded(at);
    for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
      const auto index = events_.roots_by_end[i];
      if (events_.host[index].end_ns <= own_end) return kNone;
      if (events_.thread_of[index] == thread) continue;
      return events_.host[index].start_ns >= own_end ? index : kNone;
    }
    return kNone;
  }

 private:
  // The last work to end before this one starts, on any stream or on another one of the same device.
  std::uint32_t endedBefore(std::uint32_t index, bool other_stream) const {
    constexpr std::size_t kMostLookedAt = 16;
    const auto& work = events_.work[index];
    const auto ended = events_.workEnded(work.start_ns);
    for (std::size_t i = ended; i-- > 0 && ended - i <= kMostLookedAt;) {
      const auto candidate = events_.work_by_end[i];
      if (candidate == index) continue;
      const auto stream = events_.work[candidate].stream;
      if (!other_stream) return candidate;
      if (stream != work.stream && events_.streams[stream].device == events_.streams[work.stream].device)
        return candidate;
    }
    return kNone;
  }

  Binding bind(std::uint32_t index) const {
    const auto& work = events_.work[index];
    const auto endOf = [&](std::uint32_t i) { return i == kNone ? INT64_MIN : events_.work[i].end_ns; };
    if (work.call_thread == kNone) {
      const auto last = endedBefore(index, false);
      if (endOf(work.before) >= endOf(last) && work.before != kNone)
        return {WaitedFor::streamWork, work.before};
      return last == kNone ? Binding{} : Binding{WaitedFor::otherStream, last};
    }
    const TimeNs launched = launchedAt(work), before = endOf(work.before);
    if (events_.has_stream_waits) {
      const auto other = endedBefore(index, true);
      if (endOf(other) > std::max(launched, before) && work.start_ns - endOf(other) <= kHandoverNs)
        return {WaitedFor::otherStream, other};
    }
    if (before > launched) return {WaitedFor::streamWork, work.before};
    return {WaitedFor::launch, kNone};
  }

  const WindowEvents& events_;
  std::vector<Binding> bindings_;
};

PathPart partOf(EventKind kind) {
  switch (kind) {
    case EventKind::kernel: return PathPart::kernel;
    case EventKind::copy: return PathPart::copy;
    case EventKind::communication: return PathPart::communication;
    case EventKind::operatorRun: return PathPart::operatorRun;
    case EventKind::dataWait: return PathPart::dataWait;
    default: return PathPart::call;
  }
}

// A collective on a host thread (gloo) is a call that takes its time.
PathKey keyOf(const WindowEvents::HostEvent& event) {
  const auto part = event.kind == EventKind::communication ? PathPart::call : partOf(event.kind);
  return {part, event.op, event.op ? StringId{} : event.name};
}
PathKey keyOf(const WindowEvents::Work& work) { return {partOf(work.kind), {}, work.name}; }

class Walk {
 public:
  Walk(const WindowEvents& events, const Graph& graph, CriticalPath& path)
      : events_(events), graph_(graph), path_(path), at_(path.window.end_ns) {}

  void run() {
    begin();
    while (!done_ && at_ > path_.window.start_ns) {
      if (work_ != kNone) {
        throughWork();
      } else {
        throughHost();
      }
    }
    go(path_.window.start_ns, {});
  }

 private:
  // Explains the time from `to` until now.
  void go(TimeNs to, const PathKey& key, TrackId track = {}) {
    to = std::clamp(to, path_.window.start_ns, at_);
    path_.step(to, at_, key, track);
    at_ = to;
  }

  // From what ends last; device work before host events, as a device that is busy at the end holds up the
  // rest.
  void begin() {
    const auto ends = [&](const auto& event) { return std::min(event.end_ns, at_); };
    TimeNs last = INT64_MIN;
    for (std::uint32_t i = 0; i < events_.work.size(); ++i) {
      if (ends(events_.work[i]) > last) last = ends(events_.work[i]), work_ = i;
    }
    for (const auto i : events_.roots_by_end) {
      if (ends(events_.host[i]) > last)
        last = ends(events_.host[i]), thread_ = events_.thread_of[i], work_ = kNone;
    }
    done_ = last == INT64_MIN;
    if (!done_) go(last, {});
  }

  void throughWork() {
    const auto& work = events_.work[work_];
    go(work.start_ns, keyOf(work), events_.streams[work.stream].id);
    const Binding& binding = graph_.binding(work_);
    switch (binding.kind) {
      case WaitedFor::nothing: done_ = true; return;
      case WaitedFor::launch:
        go(work.call_end_ns, {PathPart::launchDelay, {}, {}});
        thread_ = work.call_thread;
        work_ = kNone;
        return;
      case WaitedFor::streamWork:
      case WaitedFor::otherStream: {
        const TimeNs end = events_.work[binding.other].end_ns;
        // Without launches long gaps may be the host's.
        const bool told = work.call_thread != kNone || work.start_ns - end <= kHandoverNs;
        go(end, told ? PathKey{PathPart::deviceDelay, {}, {}} : PathKey{});
        work_ = binding.other;
        return;
      }
    }
  }

  void throughHost() {
    TimeNs ended = INT64_MIN;  // of what ran within the event, or before it
    auto inside = events_.lastBefore(thread_, at_);
    for (; inside != kNone && events_.host[inside].end_ns < at_; inside = events_.host[inside].parent)
      ended = std::max(ended, events_.host[inside].end_ns);
    if (inside == kNone) return throughGap(ended);
    const auto& event = events_.host[inside];
    const auto track = events_.threads[thread_].id;
    if (const auto work = graph_.releasedBy(inside, at_); work != kNone) {
      go(events_.work[work].end_ns, keyOf(event), track);
      work_ = work;
      return;
    }
    go(std::max(event.start_ns, ended), keyOf(event), track);
  }

  void throughGap(TimeNs own_end) {
    const auto other = graph_.ranMeanwhile(thread_, own_end, at_);
    if (other != kNone) {
      go(events_.host[other].end_ns, {});
      thread_ = events_.thread_of[other];
    } else if (own_end == INT64_MIN) {
      done_ = true;
    } else {
      go(own_end, {});
    }
  }

  const WindowEvents& events_;
  const Graph& graph_;
  CriticalPath& path_;
  TimeNs at_;
  std::uint32_t work_ = kNone;  // where the path is; kNone: on the thread
  std::uint32_t thread_ = 0;
  bool done_ = false;
};

class Slack {
 public:
  Slack(const WindowEvents& events, const Graph& graph)
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
  // At equal times what comes later in the order is seen first.
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
    // It starts when the last of these is there; the others may come as much later as they were early.
    const auto reach = [&](TimeNs at) {
      if (binding.kind == WaitedFor::launch) return Graph::launchedAt(work) - at;
      return binding.other == kNone ? TimeNs{0} : events_.work[binding.other].end_ns - at;
    };
    if (work.before != kNone)
      lower(work_[work.before], slack + std::max<TimeNs>(0, reach(events_.work[work.before].end_ns)));
    if (binding.kind == WaitedFor::otherStream) lower(work_[binding.other], slack);
    if (work.call_thread == kNone) return;
    const auto call = callOf(work);
    if (call != kNone) lower(launched_[call], slack + std::max<TimeNs>(0, reach(Graph::launchedAt(work))));
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

  // What another thread did while this one had nothing to do.
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
  const Graph& graph_;
  TimeNs end_ = 0;
  std::vector<TimeNs> threads_;   // of each thread, at the point that the sweep has reached
  std::vector<TimeNs> work_;      // of each piece of work
  std::vector<TimeNs> host_;      // of each host event
  std::vector<TimeNs> launched_;  // what the work that it launched leaves to a host event
};

void sayWhatIsMissing(const WindowEvents& events, CriticalPath& path) {
  const auto work = static_cast<std::int64_t>(events.work.size());
  if (work == 0) {
    path.missing.push_back("no device work: the path goes along host threads alone");
    return;
  }
  if (events.host.empty()) {
    path.missing.push_back(
        "no calls or operators of host threads: what an idle device waited for is not told");
    return;
  }
  if (events.without_launch > 0) {
    path.missing.push_back(
        fmt::format("{} of {} pieces of device work have no launch in the trace: before them the path goes "
                    "to the work that "
                    "ended last",
                    events.without_launch, work));
  }
  if (!events.has_synchronisation)
    path.missing.push_back("no call that waits for a device: where the host waits for it is not told");
  TimeNs nothing = 0;
  for (const auto& [key, sums] : path.sums) nothing += key.part == PathPart::nothing ? sums.on_path_ns : 0;
  const auto wall = static_cast<double>(std::max<TimeNs>(1, path.window.end_ns - path.window.start_ns));
  if (const double share = static_cast<double>(nothing) / wall; share > 0.2) {
    path.missing.push_back(
        fmt::format("no event for {:.0f} % of the path: what the host does there is not recorded (ranges of "
                    "the program or "
                    "its stacks would tell)",
                    share * 100));
  }
}

}  // namespace

Result<CriticalPath> criticalPathOfDevices(Trace& trace, const Activity& activity, Interval window,
                                           ProcessId process) {
  auto events = readWindow(trace, activity, window, process, kMostEvents);
  if (!events.has_value()) return fail(events.error());
  CriticalPath path;
  path.window = events->window;
  if (events->host.empty() && events->work.empty()) return path;
  const Graph graph(*events);
  Walk(*events, graph, path).run();
  Slack(*events, graph).run(path);
  sayWhatIsMissing(*events, path);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace pitwall::analysis
