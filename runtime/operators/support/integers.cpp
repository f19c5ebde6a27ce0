#include "runtime/operators/support/integers.h"

#include <fmt/format.h>

#include "db/try.h"

namespace pitwall {

Status expectInference(const ShapeQuery& q, std::size_t inputs) {
  if (q.pass != Pass::inference) return q.noSuchPass();
  return q.expectInputs(inputs);
}

Status expectOutputType(const ShapeQuery& q, DType output) {
  if (output == DType::float32 || output == DType::int32 || isEightBit(output)) return {};
  return q.wrong(fmt::format("the output is {}: must be float32, int32, int8 or uint8", toString(output)));
}

Status expectEightBit(const ShapeQuery& q, std::size_t i, const char* name) {
  if (isEightBit(q.inputs[i].dtype)) return {};
  return q.wrong(fmt::format("{} is {}, must be int8 or uint8", name, toString(q.inputs[i].dtype)));
}

Status expectFloats(const ShapeQuery& q, std::size_t i, const Shape& shape, const char* name) {
  if (q.inputs[i].dtype != DType::float32)
    return q.wrong(fmt::format("{} is {}, must be float32", name, toString(q.inputs[i].dtype)));
  return q.expectShape(i, shape, name);
}

}  // namespace pitwall
