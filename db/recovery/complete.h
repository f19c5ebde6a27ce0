// Completes the trace of a killed recording from the rings that lie beside it.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::recovery {

struct Completion {
  std::int64_t events = 0;       // added to the trace
  std::int64_t open_scopes = 0;  // of them; they have the argument "open"
  std::string problem;           // what could not be recovered, and what to do; "" = nothing
};

// Nothing happens when there is no ring file, when its recording is still running, or when it belongs to
// another recording. Otherwise what the trace does not have yet is appended, the file is deleted, and the
// trace stays marked incomplete. Killed in between, it goes on with the next call; each event arrives once.
Completion completeTrace(const std::string& trace_path);

}  // namespace pitwall::recovery
