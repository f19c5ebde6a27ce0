#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall::cpu_kernels {

RunFunction make(const TwoBitSumDesc& desc, const Request& r, Signature& s) {
  return [count = s.outputs[0].shape.elements(), parallel_from = r.options.parallel_elements,
          threshold = desc.threshold](const KernelArgs& a) {
    parallelFor(count, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      sumTwoBitPart(a.inputs, output(a, 0), begin, end, threshold);
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
