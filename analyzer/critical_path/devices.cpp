// The path is followed backwards from the event that ends last in the window.
//
// Before device work comes what bound it: its launch or other work, whichever came last. On a host thread the path
// goes through the innermost event at each moment, and from a call that waits for the device to the work it waited
// for. Where the thread has no event at all, it continues with the thread that this one waited for; otherwise that
// time is unknown.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/critical_path/device_path.h"
#include "analyzer/critical_path/path.h"
#include "analyzer/dependencies/device_graph.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

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

class Walk {
 public:
  Walk(const DeviceGraph& devices, CriticalPath& path)
      : devices_(devices), path_(path), at_(path.window.end_ns) {}

  void run() {
    begin();
    while (!done_ && at_ > path_.window.start_ns) {
      if (work_ != Graph::kNone) {
        throughWork();
      } else {
        throughHost();
      }
    }
    go(path_.window.start_ns, {});
  }

 private:
  const Node& node(std::uint32_t index) const { return devices_.node(index); }

  // Explains the time from `to` until now.
  void go(TimeNs to, const PathKey& key, TrackId track = {}) {
    to = std::clamp(to, path_.window.start_ns, at_);
    path_.step(to, at_, key, track);
    at_ = to;
  }

  // From what ends last; device work before host events, as a device that is busy at the end holds up the
  // rest.
  void begin() {
    const auto ends = [&](std::uint32_t i) { return std::min(node(i).end_ns, at_); };
    TimeNs last = INT64_MIN;
    for (auto i = devices_.first_work; i < devices_.graph.nodes.size(); ++i) {
      if (ends(i) > last) last = ends(i), work_ = i;
    }
    for (const auto i : devices_.roots_by_end) {
      if (ends(i) > last) last = ends(i), thread_ = node(i).resource, work_ = Graph::kNone;
    }
    done_ = last == INT64_MIN;
    if (!done_) go(last, {});
  }

  void throughWork() {
    const auto& work = node(work_);
    go(work.start_ns, keyOf(devices_, work_), work.track);
    const Binding binding = bindingOf(devices_, work_);
    switch (binding.kind) {
      case Binding::Kind::nothing: done_ = true; return;
      case Binding::Kind::launch: {
        // A launch outside of the window has no node.
        const auto call = devices_.graph.into(work_, EdgeKind::launch);
        go(call == Graph::kNone ? work.asked_ns : node(call).end_ns, {PathPart::launchDelay, {}, {}});
        thread_ = work.asked_on;
        work_ = Graph::kNone;
        return;
      }
      case Binding::Kind::work: {
        const TimeNs end = node(binding.work).end_ns;
        // Without launches, long gaps may belong to the host.
        const bool is_known =
            work.asked_on != Graph::kNone || work.start_ns - end <= DeviceGraph::kHandoverNs;
        go(end, is_known ? PathKey{PathPart::deviceDelay, {}, {}} : PathKey{});
        work_ = binding.work;
        return;
      }
    }
  }

  void throughHost() {
    TimeNs ended = INT64_MIN;  // of work that ran within the event, or before it
    auto inside = devices_.lastBefore(thread_, at_);
    for (; inside != Graph::kNone && node(inside).end_ns < at_; inside = node(inside).parent)
      ended = std::max(ended, node(inside).end_ns);
    if (inside == Graph::kNone) return throughGap(ended);
    const auto& event = node(inside);
    if (const auto by = devices_.releasedBy(inside, at_); by != Graph::kNone) {
      go(node(by).end_ns, keyOf(devices_, inside), event.track);
      return continueWith(by);
    }
    go(std::max(event.start_ns, ended), keyOf(devices_, inside), event.track);
    if (at_ == event.start_ns && event.parent == Graph::kNone && devices_.isOfEngine(inside))
      throughEngine(inside);
  }

  void continueWith(std::uint32_t index) {
    const bool is_work = devices_.isWork(index);
    work_ = is_work ? index : Graph::kNone;
    if (!is_work) thread_ = node(index).resource;
  }

  // From the start of an operator of the engine to what it waited for last.
  void throughEngine(std::uint32_t index) {
    const auto& op = node(index);
    const TimeNs own_end = devices_.ownEnd(op.resource, op.start_ns);
    const TimeNs ready = devices_.readyAt(index, own_end);
    go(ready, {PathPart::engineOverhead, {}, {}});
    if (own_end >= ready) return;
    for (const auto& wait : devices_.graph.into(index)) {
      if (wait.kind == EdgeKind::data && node(wait.from).end_ns == ready) return continueWith(wait.from);
    }
    thread_ = devices_.pushes;
    done_ = thread_ == Graph::kNone;
  }

  void throughGap(TimeNs own_end) {
    const auto other =
        thread_ == devices_.pushes ? Graph::kNone : devices_.ranMeanwhile(thread_, own_end, at_);
    if (other != Graph::kNone) {
      go(node(other).end_ns, {});
      thread_ = node(other).resource;
    } else if (own_end == INT64_MIN) {
      done_ = true;
    } else {
      go(own_end, {});
    }
  }

  const DeviceGraph& devices_;
  CriticalPath& path_;
  TimeNs at_;
  std::uint32_t work_ = Graph::kNone;  // where the path is; Graph::kNone: on the thread
  std::uint32_t thread_ = 0;
  bool done_ = false;
};

void sayWhatIsMissing(const DeviceGraph& devices, CriticalPath& path) {
  const auto work = static_cast<std::int64_t>(devices.graph.nodes.size() - devices.first_work);
  if (work == 0) {
    path.missing.push_back("no device work: the path covers host threads only");
    return;
  }
  if (devices.first_work == 0) {
    path.missing.push_back(
        "no calls or operators of host threads: what an idle device waited for is unknown");
    return;
  }
  if (devices.without_launch > 0) {
    path.missing.push_back(
        fmt::format("{} of {} kernels and copies have no launch in the trace: before them the path "
                    "continues with the work that ended last",
                    devices.without_launch, work));
  }
  if (!devices.has_synchronisation)
    path.missing.push_back("no call that waits for a device: where the host waits for it is unknown");
  TimeNs nothing = 0;
  for (const auto& [key, sums] : path.sums) nothing += key.part == PathPart::nothing ? sums.on_path_ns : 0;
  const auto wall = static_cast<double>(std::max<TimeNs>(1, path.window.end_ns - path.window.start_ns));
  if (const double share = static_cast<double>(nothing) / wall; share > 0.2) {
    path.missing.push_back(
        fmt::format("no event for {:.0f} % of the path: what the host does there is not recorded (ranges of "
                    "the program or its stacks would show it)",
                    share * 100));
  }
}

}  // namespace

// A collective on a host thread (gloo) is a call that takes its time.
PathKey keyOf(const DeviceGraph& devices, std::uint32_t index) {
  const auto& node = devices.node(index);
  if (devices.isWork(index)) return {partOf(node.kind), {}, node.name};
  const auto part = node.kind == EventKind::communication ? PathPart::call : partOf(node.kind);
  return {part, node.op, node.op ? StringId{} : node.name};
}

Result<CriticalPath> criticalPathOfDevices(Trace& trace, const Activity& activity, Interval window,
                                           ProcessId process) {
  const auto devices =
      PITWALL_TRY(graphOfDevices(trace, activity, window, process, CriticalPath::kMostEvents));
  CriticalPath path;
  path.window = devices.graph.window;
  if (devices.graph.nodes.empty()) return path;
  Walk(devices, path).run();
  addSlack(devices, path);
  sayWhatIsMissing(devices, path);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace pitwall::analysis
