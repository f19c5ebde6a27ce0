#include "runtime/nn.h"

namespace pitwall::nn {

Status Parameter::make(Session& session, const Shape& shape, Device device) {
  if (value) return {};
  value = NDArray::empty(session, shape, MemoryTag::weights, DType::float32, device);
  Status filled = pitwall::initialise(value, initialiser, seed);
  if (trained) value.attachGradient();
  return filled;
}

}  // namespace pitwall::nn
