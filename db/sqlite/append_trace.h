// Appends to a trace that was left incomplete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/sink.h"
#include "db/sqlite/dimensions.h"

namespace pitwall::store {

struct Appending {
  std::unique_ptr<TraceSink> sink;  // ids continue from those of `existing`
  Dimensions existing;
  std::vector<std::int64_t> events;    // of each track, index = TrackId.value - 1
  std::vector<TimeNs> last_sample_ns;  // of each track, -1 = none; index = TrackId.value - 1
  std::int64_t dependencies = 0;
};

// Errors: io (not writable, in use), corruptTrace.
Result<Appending> appendTrace(const std::string& path);

}  // namespace pitwall::store
