// Functions of one number or two, in float.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/launch.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/binary.h"

namespace pitwall::gpu_kernels {

PITWALL_DEVICE float larger(float a, float b) { return a > b || a != a ? a : b; }
PITWALL_DEVICE float smaller(float a, float b) { return a < b || a != a ? a : b; }
PITWALL_DEVICE float sigmoidOf(float x) { return 1.0F / (1.0F + expf(-x)); }
PITWALL_DEVICE float softreluOf(float x) { return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)); }
// 1 / sqrt(x). A GPU has an instruction for it, to the last digit but one.
PITWALL_DEVICE float inverseRootOf(float x) {
#ifdef __CUDA_ARCH__
  return rsqrtf(x);
#else
  return 1.0F / sqrtf(x);
#endif
}
PITWALL_DEVICE float limited(float x, float least, float most) {
  return x < least ? least : x > most ? most : x;
}

PITWALL_DEVICE float activated(ActivationType type, float x) {
  switch (type) {
    case ActivationType::relu: return x > 0 ? x : 0;
    case ActivationType::sigmoid: return sigmoidOf(x);
    case ActivationType::tanh: return tanhf(x);
    case ActivationType::softrelu: return softreluOf(x);
  }
  return 0;
}

PITWALL_DEVICE float activated(const FusedActivation& a, float x) {
  switch (a.type) {
    case FusedActivation::Type::none: return x;
    case FusedActivation::Type::relu: return x > 0 ? x : 0;
    case FusedActivation::Type::sigmoid: return sigmoidOf(x);
    case FusedActivation::Type::tanh: return tanhf(x);
    case FusedActivation::Type::softrelu: return softreluOf(x);
    case FusedActivation::Type::clip: return limited(x, a.minimum, a.maximum);
  }
  return x;
}

PITWALL_DEVICE float combined(BinaryType type, float a, float b) {
  switch (type) {
    case BinaryType::add: return a + b;
    case BinaryType::subtract: return a - b;
    case BinaryType::multiply: return a * b;
    case BinaryType::divide: return a / b;
    case BinaryType::maximum: return larger(a, b);
    case BinaryType::minimum: return smaller(a, b);
  }
  return 0;
}

PITWALL_DEVICE float slopeOfA(BinaryType type, float a, float b) {
  switch (type) {
    case BinaryType::add:
    case BinaryType::subtract: return 1;
    case BinaryType::multiply: return b;
    case BinaryType::divide: return 1 / b;
    case BinaryType::maximum: return a >= b ? 1.0F : 0.0F;
    case BinaryType::minimum: return a <= b ? 1.0F : 0.0F;
  }
  return 0;
}

PITWALL_DEVICE float slopeOfB(BinaryType type, float a, float b) {
  switch (type) {
    case BinaryType::add: return 1;
    case BinaryType::subtract: return -1;
    case BinaryType::multiply: return a;
    case BinaryType::divide: return -a / (b * b);
    case BinaryType::maximum: return a < b ? 1.0F : 0.0F;
    case BinaryType::minimum: return a > b ? 1.0F : 0.0F;
  }
  return 0;
}

}  // namespace pitwall::gpu_kernels
