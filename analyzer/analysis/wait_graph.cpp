#include "analyzer/analysis/wait_graph.h"

#include <algorithm>

namespace pitwall::analysis {
namespace {

constexpr std::uint32_t kNone = WindowEvents::kNone;

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

}  // namespace

WaitGraph::WaitGraph(const WindowEvents& events) : events_(events), bindings_(events.work.size()) {
  for (std::uint32_t i = 0; i < events.work.size(); ++i) bindings_[i] = bind(i);
}

std::uint32_t WaitGraph::releasedBy(std::uint32_t host, TimeNs at) const {
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

std::uint32_t WaitGraph::ranMeanwhile(std::uint32_t thread, TimeNs own_end, TimeNs at) const {
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

// The last work to end before this one starts, on any stream or on another one of the same device.
std::uint32_t WaitGraph::endedBefore(std::uint32_t index, bool other_stream) const {
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

Binding WaitGraph::bind(std::uint32_t index) const {
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

// A collective on a host thread (gloo) is a call that takes its time.
PathKey keyOf(const WindowEvents::HostEvent& event) {
  const auto part = event.kind == EventKind::communication ? PathPart::call : partOf(event.kind);
  return {part, event.op, event.op ? StringId{} : event.name};
}
PathKey keyOf(const WindowEvents::Work& work) { return {partOf(work.kind), {}, work.name}; }

}  // namespace pitwall::analysis
