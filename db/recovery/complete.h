// Completes the trace of a killed recording from the ring file beside it.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::recovery {

struct Completion {
  std::int64_t events = 0;       // added to the trace
  std::int64_t open_scopes = 0;  // of those events; they have the argument "open"
  std::string problem;           // what could not be recovered, and the remedy; "" = none
};

// Does nothing when there is no ring file, when its recording is still running, or when it belongs to another
// recording. Otherwise appends the missing records, deletes the file, and leaves the trace marked incomplete.
// If killed, the next call continues; each event is added once.
Completion completeTrace(const std::string& trace_path);

}  // namespace pitwall::recovery
