// One layout for all arrays of an operator that computes element by element.
#pragma once

#include "runtime/backend/cpu_kernels/operators.h"

namespace pitwall::cpu_kernels {

inline bool isPadded(const TensorSpec& spec) { return storedElements(spec) != spec.shape.elements(); }

// Uses `layout` for all arrays, unless it has padding whose zeros the operator would change: other kernels
// rely on them.
inline void shareLayout(const TensorSpec& leader, bool keeps_zeros, Signature& s) {
  const LayoutPtr layout = keeps_zeros || !isPadded(leader) ? leader.layout : nullptr;
  for (TensorSpec& spec : s.inputs) spec.layout = layout;
  for (TensorSpec& spec : s.outputs) spec.layout = layout;
}

}  // namespace pitwall::cpu_kernels
