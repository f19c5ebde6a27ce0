// Element-by-element computations on values, below recording.
#pragma once

#include "runtime/array/call.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/linear.h"

namespace pitwall {

struct ElementwiseCall {
  const char* name;
  Phase phase = Phase::forward;
  SitePtr site;
  BinaryType type = BinaryType::add;  // applyBinary only
};

// Into `output`, or a new array when it is empty.
Result<Value> applyBinary(const ElementwiseCall& call, const Value& a, const Value& b, Value output);
Result<Value> applyLinear(const ElementwiseCall& call, const LinearDesc& linear, const Value& data,
                          Value output);

}  // namespace pitwall
