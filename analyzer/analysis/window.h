// The time window that a report's shares refer to: that of the breakdown. Time that is divided by its
// length must be counted within it.
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/intervals.h"
#include "analyzer/analysis/iterations.h"

namespace pitwall::analysis {

struct Window {
  Intervals spans;  // in order, disjoint
  TimeNs length_ns = 0;
  std::int64_t iterations = 0;  // that begin within; at least 1
};

// Of a trace with device work the devices' windows; else the steady iterations, all of them when none is.
Window windowOf(const Devices& devices, std::span<const Iteration> iterations);

// How much of it is within the window.
TimeNs coveredWithin(const Window& window, std::span<const Interval> disjoint);

}  // namespace pitwall::analysis
