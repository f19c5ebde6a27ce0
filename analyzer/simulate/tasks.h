// A recorded program as tasks that wait for each other: what the simulator replays.
//
// There are two sorts of tasks. A point is a moment of a host thread: the thread reaches it `own_ns` after its point
// before, and after each of its links. A work is an operator of an engine, or a kernel, copy or collective of a device:
// it starts after each of its links and takes `own_ns`. Tasks are in an order in which each one comes after all that it
// waits for, so that one pass over them gives all times.
//
// They are made from the dependency graph that the critical path uses too (analyzer/dependencies/graph.h), by
// tasksOfDevices() or tasksOfOperators(), and do not change after that.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/analysis/intervals.h"
#include "db/units.h"

namespace pitwall::simulate {

enum class LinkKind : std::uint8_t {
  origin,    // from the window's start: nothing else is known that it waited for
  order,     // from the work before on the same stream or worker
  stream,    // from work of another stream
  data,      // from an operator whose result it uses
  launch,    // from the call that launched it, or the push of an operator
  release,   // from work that the thread waited for
  handOver,  // from another thread whose work this one continues
  pace,      // from the training thread, to another one that had nothing to do until then
};
inline constexpr std::size_t kLinkKinds = 8;
const char* toString(LinkKind kind);  // "order", "stream", ..., "hand-over"

struct Link {
  std::uint32_t from = 0;  // task: a point's moment, a work's end
  LinkKind kind = LinkKind::origin;
  bool bound = false;   // in the recording this was what the task waited for last
  TimeNs delay_ns = 0;  // from then until the task, at least
};

struct Task {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  enum Flags : std::uint8_t {
    kWork = 1,
    kLoading = 2,   // own_ns is the training thread's, within a wait for a batch
    kWaits = 4,     // own_ns is what a call takes at least that waits for a device or the engine
    kNoWorker = 8,  // work: an operator that completes asynchronously, without a thread of the engine
  };

  TimeNs own_ns = 0;
  std::uint32_t node = kNone;  // of the graph, whose time own_ns is; kNone: no event's
  std::uint32_t first_link = 0;
  std::uint32_t iteration =
      0;  // of work: of the mark after which it was launched, from 1; 0 = before all marks
  std::uint16_t resource = 0;  // of the graph
  std::uint8_t flags = 0;

  bool isWork() const { return (flags & kWork) != 0; }
};

struct Tasks {
  static constexpr std::uint32_t kNone = Task::kNone;

  analysis::Interval window;
  std::vector<Task> all;    // the first one is the window's start
  std::vector<Link> links;  // by task
  std::size_t resources = 0;
  // The beginnings of iterations and the end of the last, ascending, since the trace's start; and the point of
  // each on the training thread, kNone where there is no thread.
  std::vector<TimeNs> marks_ns;
  std::vector<std::uint32_t> marks;
  // Of each mark, as recorded: when it was reached and all work launched before it had ended; since the window's start.
  std::vector<TimeNs> finished_ns;
  std::array<TimeNs, kLinkKinds> typical_ns{};  // delay of a link that bound: the median
  std::array<std::int64_t, kLinkKinds>
      contradictions{};  // links that the recorded times contradict: left out

  std::span<const Link> linksOf(std::uint32_t task) const {
    const auto end = task + 1 < all.size() ? all[task + 1].first_link : links.size();
    return std::span(links).subspan(all[task].first_link, end - all[task].first_link);
  }
};

}  // namespace pitwall::simulate
