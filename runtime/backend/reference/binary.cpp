#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

float apply(BinaryType type, float a, float b) {
  switch (type) {
    case BinaryType::add: return a + b;
    case BinaryType::subtract: return a - b;
    case BinaryType::multiply: return a * b;
    case BinaryType::divide: return a / b;
  }
  return 0;
}

}  // namespace

RunFunction make(const BinaryDesc& desc, Pass, Signature& s) {
  return [type = desc.type, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) output(a, 0)[i] = apply(type, input(a, 0)[i], input(a, 1)[i]);
    return Status{};
  };
}

}  // namespace pitwall::reference
