// Events of a synthetic training run, of any number and the same every time: for store_bench.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/sink.h"

namespace pitwall::bench {

// The kind of a track's events.
enum class MadeTrack : std::uint8_t {
  scopes,   // a thread's nested scopes: an iteration of layers of operators
  calls,    // a thread's library calls, each with a correlation
  kernels,  // a stream's kernels and copies, with correlation, facts and arguments
};

// Generates the events of one track in the order of their starts, a portion at a time.
class MadeEvents {
 public:
  // Writes names, facts and arguments to the sink.
  MadeEvents(MadeTrack what, std::uint64_t seed, TraceSink& sink);

  // Replaces `events` by the next `count`.
  void next(std::size_t count, std::vector<Event>& events);

 private:
  Event scope();
  Event call();
  Event kernel();
  TimeNs around(TimeNs length);  // a length that varies like measured ones
  std::uint64_t random();

  const MadeTrack what_;
  std::uint64_t state_;
  TimeNs now_ = 0;
  std::size_t at_ = 0;  // in the pattern that repeats
  CorrelationId correlation_;
  std::vector<StringId> names_, args_;
  std::vector<KernelId> kernels_;
  std::vector<TimeNs> lengths_;
};

}  // namespace pitwall::bench
