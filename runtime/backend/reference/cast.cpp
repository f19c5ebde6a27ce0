#include "runtime/backend/reference/operators.h"
#include "runtime/short_float.h"

namespace pitwall::reference {

RunFunction make(const CastDesc&, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return withElementType(s.inputs[0].dtype, [&](auto from_type) -> RunFunction {
    return withElementType(s.outputs[0].dtype, [&](auto to_type) -> RunFunction {
      using From = decltype(from_type);
      using To = decltype(to_type);
      return [n](const KernelArgs& a) {
        const auto* from = static_cast<const From*>(a.inputs[0]);
        auto* to = static_cast<To*>(a.outputs[0]);
        for (std::int64_t i = 0; i < n; ++i) to[i] = fromFloat<To>(toFloat(from[i]));
        return Status{};
      };
    });
  });
}

}  // namespace pitwall::reference
