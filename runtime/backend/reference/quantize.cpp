#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/quantized_range.h"

namespace pitwall::reference {

RunFunction make(const QuantizeDesc& desc, Pass, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    const auto real = [data = input(a, 0)](std::int64_t i) { return static_cast<double>(data[i]); };
    const NumberRange range = (desc.is_calibrated ? desc.range : rangeOf(n, real)).of(desc.output);
    storeRange(a, range);
    storeQuantized({a.outputs[0], desc.output, range}, 0, n, real);
    return Status{};
  };
}

}  // namespace pitwall::reference
