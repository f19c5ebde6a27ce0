#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/quantized_range.h"

namespace pitwall::reference {

RunFunction make(const RequantizeDesc& desc, Pass, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    const double step = 1 / NumberRange{input(a, 1)[0], input(a, 2)[0]}.scale(DType::int32);
    const auto real = [data = a.inputs[0], step](std::int64_t i) {
      return step * elementAt(data, DType::int32, i);
    };
    const NumberRange range = (desc.is_calibrated ? desc.range : rangeOf(n, real)).of(desc.output);
    storeRange(a, range);
    storeQuantized({a.outputs[0], desc.output, range}, 0, n, real);
    return Status{};
  };
}

}  // namespace pitwall::reference
