#include <algorithm>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall::cpu_kernels {

RunFunction make(const TwoBitCompressDesc& desc, const Request& r, Signature& s) {
  return [count = s.inputs[0].shape.elements(), parallel_from = r.options.parallel_elements,
          threshold = desc.threshold](const KernelArgs& a) {
    auto* const codes = static_cast<std::uint8_t*>(a.outputs[0]);
    parallelFor(count, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      compressTwoBitPart(input(a, 0), output(a, 1), codes, begin, end, threshold);
    });
    std::fill(codes + (count + 3) / 4, codes + twoBitBytes(count), std::uint8_t{0});
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
