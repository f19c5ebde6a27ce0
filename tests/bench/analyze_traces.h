// Synthetic traces to analyse, of any size; the same every time.
#pragma once

#include <cstdint>
#include <string>

#include "db/result.h"

namespace pitwall::bench {

// Errors: those of writing a trace.

// Iterations of 40 operators, 50 kernels with their launches and a copy, on a worker, the main thread and two
// streams.
Status writeTraining(const std::string& path, std::int64_t events);

// Equal operators one after the other on one thread, as in the log of a program that calls one primitive
// repeatedly; without iteration marks.
Status writeAlike(const std::string& path, std::int64_t events);

}  // namespace pitwall::bench
