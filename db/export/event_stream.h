// Events of one track in the order of their start, a chunk at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/event.h"
#include "db/export/selection.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::exporting {

// An event with its texts; event.name is not set.
struct FullEvent {
  Event event;
  std::string name;
  std::string args;  // a JSON object; "" none
};

// Chunks of a track overlap where an event ended in a later commit than those it encloses: events are held
// until no later chunk can hold an earlier one.
class EventStream {
 public:
  // Reads only the chunks that the selection touches. Errors: those of Trace::query.
  static Result<EventStream> open(Trace& trace, TrackId track, const Selection& selection, Pace& pace);

  // The next event, or null at the end; valid until the next call.
  Result<const FullEvent*> next();

 private:
  EventStream(Trace& trace, TrackId track, const Selection& selection, Pace& pace)
      : trace_(trace), track_(track), selection_(selection), pace_(pace) {}
  Status read();

  struct ChunkRef {
    std::int64_t id = 0;
    TimeNs first_start_ns = 0;
    std::int64_t count = 0;
  };
  Trace& trace_;
  TrackId track_;
  const Selection& selection_;
  Pace& pace_;
  std::vector<ChunkRef> chunks_;  // by first start
  std::size_t next_chunk_ = 0;
  std::vector<FullEvent> held_;  // sorted; from at_ on
  std::size_t at_ = 0;
};

// Samples of one counter track, ordered by time; of the range, with the value in force at its begin.
Result<std::vector<CounterSample>> samplesOf(Trace& trace, TrackId track, const Selection& selection);

// Calls `visit` with every dependency, in their order, a portion at a time.
Status eachDependency(Trace& trace, Pace& pace, const std::function<Status(const Dependency&)>& visit);

}  // namespace pitwall::exporting
