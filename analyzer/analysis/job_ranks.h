// How many ranks a job has.
#pragma once

#include <cstdint>

#include "db/reader.h"

namespace pitwall::analysis {

// The larger of what the trace says of the whole job and the ranks whose processes it holds; 1 for a program alone.
std::int64_t ranksOfJob(const Trace& trace);

}  // namespace pitwall::analysis
