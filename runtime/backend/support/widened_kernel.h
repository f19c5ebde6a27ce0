// Operators on numbers of 16 bits where a backend has only a kernel for float32: it converts the arrays before and after.
#pragma once

#include <span>

#include "runtime/backend.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// How a backend makes a kernel; nullptr where it has none.
class KernelMaker {
 public:
  virtual Result<KernelPtr> create(const OperatorKindDesc& desc, Pass pass,
                                   std::span<const TensorSpec> inputs, const TensorSpec* like) = 0;

 protected:
  ~KernelMaker() = default;
};

// Of a request of which an array is float16 or bfloat16. The maker has kernels of CastDesc: row-major, and in each layout of float32 that
// has an equal of 16 bits (Layout::ofType); and of ReorderDesc from row-major to all others. nullptr where it has no kernel for float32.
Result<KernelPtr> makeWidened(KernelMaker& maker, const OperatorKindDesc& desc, Pass pass,
                              std::span<const TensorSpec> inputs, const TensorSpec* like);

}  // namespace pitwall
