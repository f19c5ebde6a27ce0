// The events of one process in a window of time, as the critical path goes through them: host threads with
// nested events, and streams with the calls that launched their work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/intervals.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct WindowEvents {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct HostEvent {
    TimeNs start_ns = 0, end_ns = 0;
    StringId name;
    OperatorId op;
    std::uint32_t parent = kNone;  // index in host of the event that encloses it
    EventKind kind = EventKind::api;
    std::uint8_t meaning = 0;  // NameMeaning
  };
  struct Thread {
    TrackId id;
    std::uint32_t first = 0, last = 0;  // its events in host
  };
  struct Work {
    TimeNs start_ns = 0, end_ns = 0;
    StringId name;
    EventKind kind = EventKind::kernel;
    std::uint32_t stream = 0;
    std::uint32_t before = kNone;       // the work before it on its stream
    std::uint32_t call_thread = kNone;  // of its launch; kNone = not in the trace
    TimeNs call_start_ns = 0, call_end_ns = 0;
    CorrelationId correlation = 0;
  };
  struct Stream {
    TrackId id;
    DeviceId device;
  };

  Interval window;
  std::vector<Thread> threads;  // those that run operators or launch work
  std::vector<Stream> streams;
  std::vector<HostEvent> host;  // by thread; by start, those that enclose others first
  std::vector<Work> work;       // by stream, by start
  std::vector<std::uint32_t> work_by_end,
      roots_by_end;                      // roots: host events that none encloses; not empty ones
  std::vector<std::uint32_t> thread_of;  // of each host event, index in threads
  bool has_synchronisation = false;      // a call that waits for a device
  bool has_stream_waits = false;         // a stream waits for another one's event
  std::int64_t without_launch = 0;

  // The last event of the thread that starts before; kNone = none.
  std::uint32_t lastBefore(std::uint32_t thread, TimeNs at) const;
  // How many of the list (work_by_end, roots_by_end) end at or before.
  std::size_t workEnded(TimeNs at) const;
  std::size_t rootsEnded(TimeNs at) const;
};

// Where the window holds more than `most` events, its middle part is read instead. Errors: corruptTrace.
Result<WindowEvents> readWindow(Trace& trace, const Activity& activity, Interval window, ProcessId process,
                                std::size_t most);

}  // namespace pitwall::analysis
