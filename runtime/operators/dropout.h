// Drops elements at random.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Keeps an element with probability 1 - rate and scales it by 1 / (1 - rate).
//   forward:  data -> out, mask (float32: 0 or 1 / (1 - rate), layout of data)
//   backward: dout, mask -> ddata
// The draw depends only on KernelContext::seed, not on the number of threads.
struct DropoutDesc {
  static const OperatorKind kKind;
  float rate = 0.5F;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const DropoutDesc&, const DropoutDesc&) = default;
};

namespace op {

// The identity unless recording. `seed` determines the dropped elements.
Result<NDArray> dropout(const NDArray& data, const DropoutDesc& desc, std::uint64_t seed,
                        const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
