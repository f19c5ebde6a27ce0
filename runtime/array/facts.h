// The texts of an operator for the trace.
#pragma once

#include <string>

#include "db/event.h"
#include "runtime/array/call.h"
#include "runtime/profiler.h"

namespace pitwall {

OperatorFacts describe(const Prepared& prepared, const std::string& layer, const std::string& backend,
                       Flop flop);

// Facts of an operator without a kernel (a copy, a fill), writing one array.
OperatorFacts describeWrite(const char* name, const Value& output, Phase phase);

// What was measured to choose the kernel's implementation, as a row of the trace's meta: "autotune.PROBLEM".
void recordMeasured(Profiler& profiler, const Kernel& kernel);

}  // namespace pitwall
