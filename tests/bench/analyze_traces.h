// Made-up traces to analyse, of any size; the same every time.
#pragma once

#include <cstdint>
#include <string>

#include "db/result.h"

namespace pitwall::bench {

// Errors: those of writing a trace.

// Iterations of 40 operators, 50 kernels with their launches and a copy, on a worker, the main thread and two
// streams.
Status writeTraining(const std::string& path, std::int64_t events);

// One operator after the other on one thread, all alike, as the log of a program that calls one primitive
// again and again; nothing marks iterations.
Status writeAlike(const std::string& path, std::int64_t events);

}  // namespace pitwall::bench
