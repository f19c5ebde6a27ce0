// The texts of an operator for the trace.
#pragma once

#include <string>

#include "db/event.h"
#include "runtime/array/call.h"

namespace pitwall {

OperatorFacts describe(const Prepared& prepared, const std::string& layer, const std::string& backend,
                       Flop flop);

// Facts of an operator without a kernel (a copy, a fill), writing one array.
OperatorFacts describeWrite(const char* name, const Value& output, Phase phase);

}  // namespace pitwall
