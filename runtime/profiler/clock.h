// The recorder's clocks.
#pragma once

#include <string_view>

#include "db/ring_clock.h"
#include "runtime/ring_writer.h"

namespace pitwall::profiler {

// Both clocks at the same moment, to some tens of ns.
ring::ClockPair sampleClocks();

// Whether the time stamp counter is usable: the processor reports it as invariant, and the kernel (the text
// of .../clocksource0/available_clocksource; "" = unknown) has not marked it as unstable.
bool mayUseTsc(bool tsc_is_invariant, std::string_view kernel_clocks);

}  // namespace pitwall::profiler
