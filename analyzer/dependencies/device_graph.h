// The dependency graph of one process's host threads and its devices' streams.
//
// Device work waited for the work before it on its stream, for its launch, and where streams wait for each other's
// events for other work of its device. A call that waits for a device waited for the work that ended last within
// it; a call that copies, for its own copy. A thread that had nothing to do waited for the thread of its process
// that ran last, if that began after this one had nothing left to do.
//
// Of Pitwall's engine more is recorded: an operator waited for its push, for the one before on its worker, and for the
// operators whose results it uses; of those that launch work, until the work of all that was started with them had ended,
// or, where it started before that, until they had launched it: then its own work waited for theirs.
// A wait for the engine waited for what ended last within it. Of an operator that completes later, the node is the part
// in which its worker started it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/intervals.h"
#include "analyzer/dependencies/graph.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct DeviceGraph {
  static constexpr std::uint32_t kNone = Graph::kNone;
  // From the end of the work waited for to the start of the waiting one, at most.
  static constexpr TimeNs kHandoverNs = 10'000;

  // Nodes: host events by thread, by start, those that enclose others first; then device work by stream, by
  // start. Resources: the threads that run operators, launch work or wait for devices, in the same order; then the
  // streams.
  Graph graph;
  std::uint32_t first_work = 0;             // node; those before it are host events
  std::vector<std::uint32_t> thread_begin;  // first node of each thread, and one more for the end
  std::vector<std::uint32_t> work_by_end,
      roots_by_end;                  // roots: host events that none encloses; both without empty events
  bool has_synchronisation = false;  // a call that waits for a device
  bool has_stream_waits = false;     // a stream waits for another one's event
  std::int64_t without_launch = 0;   // device work whose launch the trace does not have
  std::uint32_t pushes = kNone;  // resource of the thread that pushes the engine's operators; kNone = unknown

  bool isWork(std::uint32_t node) const { return node >= first_work; }
  // An operator of Pitwall's engine.
  bool isOfEngine(std::uint32_t index) const {
    return node(index).kind == EventKind::operatorRun && node(index).asked_ns != INT64_MIN;
  }
  const Node& node(std::uint32_t index) const { return graph.nodes[index]; }

  // The edges say what an event as a whole waited for. The following say it of a moment, which may be within an
  // event. Logarithmic in the events.

  // The last event of the thread that starts before; kNone = none.
  std::uint32_t lastBefore(std::uint32_t thread, TimeNs at) const;
  // The work that a call waited for, of the work that had ended by `at`; kNone when it did not wait. A wait for the
  // engine may also have waited for an operator of another thread.
  std::uint32_t releasedBy(std::uint32_t call, TimeNs at) const;
  // The root of another thread that ended last by `at`, if it began when or after this one ended; kNone = none.
  std::uint32_t ranMeanwhile(std::uint32_t thread, TimeNs own_end, TimeNs at) const;
  // When all that an operator of the engine waited for had ended; `own_end` is that of its thread.
  TimeNs readyAt(std::uint32_t op, TimeNs own_end) const;
  // When the thread's events that start before had all ended; the least time = there is none.
  TimeNs ownEnd(std::uint32_t thread, TimeNs at) const;

  // How many of work_by_end end at or before.
  std::size_t workEnded(TimeNs at) const;

 private:
  std::uint32_t engineReleasedBy(const Node& wait, TimeNs at) const;
};

// The events of the window, and their edges; where it holds more than `most` events, those of its middle. Reads
// the window once for each halving, and the launches of its work. n log n in the events; takes twice the memory of
// the graph while it builds. An event that is only partly in the window is a node with its whole duration.
// Errors: corruptTrace.
Result<DeviceGraph> graphOfDevices(Trace& trace, const Activity& activity, Interval window, ProcessId process,
                                   std::size_t most);

// What bound device work: the last to be fulfilled of what it waited for.
struct Binding {
  enum class Kind : std::uint8_t { nothing, work, launch };
  Kind kind = Kind::nothing;
  std::uint32_t work = Graph::kNone;  // node
};
Binding bindingOf(const DeviceGraph& devices, std::uint32_t work);

}  // namespace pitwall::analysis
