// The path is followed backwards from the event that ends last in the window.
//
// Device work began when the work before it on its stream had ended and its launch had begun:
// the later of the two is what it waited for. If a stream waits for another one's event in this trace, work
// that begins at most 10 us after other work of its device ended, and after both of these, waited for that.
//
// On a host thread the path goes through the innermost event at each moment. A call that waits for the device
// waited for the work that ended last within it; a call that copies, for its own copy. Where the thread has
// no event at all, it is assumed to have waited for the thread of its process that ran last, if that began
// after this one had nothing left to do; otherwise that time is unknown.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/analysis/critical_path.h"
#include "analyzer/analysis/wait_graph.h"
#include "analyzer/analysis/window_events.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::uint32_t kNone = WindowEvents::kNone;

class Walk {
 public:
  Walk(const WindowEvents& events, const WaitGraph& graph, CriticalPath& path)
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
        // Without launches, long gaps may belong to the host.
        const bool is_known = work.call_thread != kNone || work.start_ns - end <= kHandoverNs;
        go(end, is_known ? PathKey{PathPart::deviceDelay, {}, {}} : PathKey{});
        work_ = binding.other;
        return;
      }
    }
  }

  void throughHost() {
    TimeNs ended = INT64_MIN;  // of work that ran within the event, or before it
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
  const WaitGraph& graph_;
  CriticalPath& path_;
  TimeNs at_;
  std::uint32_t work_ = kNone;  // where the path is; kNone: on the thread
  std::uint32_t thread_ = 0;
  bool done_ = false;
};

void sayWhatIsMissing(const WindowEvents& events, CriticalPath& path) {
  const auto work = static_cast<std::int64_t>(events.work.size());
  if (work == 0) {
    path.missing.push_back("no device work: the path covers host threads only");
    return;
  }
  if (events.host.empty()) {
    path.missing.push_back(
        "no calls or operators of host threads: what an idle device waited for is unknown");
    return;
  }
  if (events.without_launch > 0) {
    path.missing.push_back(
        fmt::format("{} of {} kernels and copies have no launch in the trace: before them the path "
                    "continues with the work that ended last",
                    events.without_launch, work));
  }
  if (!events.has_synchronisation)
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

Result<CriticalPath> criticalPathOfDevices(Trace& trace, const Activity& activity, Interval window,
                                           ProcessId process) {
  auto events = PITWALL_TRY(readWindow(trace, activity, window, process, CriticalPath::kMostEvents));
  CriticalPath path;
  path.window = events.window;
  if (events.host.empty() && events.work.empty()) return path;
  const WaitGraph graph(events);
  Walk(events, graph, path).run();
  addSlack(events, graph, path);
  sayWhatIsMissing(events, path);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace pitwall::analysis
