#include "db/try.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/indices.h"

namespace pitwall::reference {

RunFunction make(const EmbeddingDesc& desc, Pass pass, Signature& s) {
  const std::int64_t n = s.inputs[0].shape.elements();
  const auto at = [width = desc.width](float index) { return static_cast<std::int64_t>(index) * width; };
  if (pass == Pass::backward) {
    return [=](const KernelArgs& a) -> Status {
      PITWALL_TRY(checkIndices("Embedding", input(a, 0), n, desc.vocabulary));
      std::vector<double> sums(static_cast<std::size_t>(desc.vocabulary * desc.width));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < desc.width; ++j)
          sums[static_cast<std::size_t>(at(input(a, 0)[i]) + j)] +=
              static_cast<double>(input(a, 1)[i * desc.width + j]);
      }
      for (std::size_t i = 0; i < sums.size(); ++i) output(a, 0)[i] = static_cast<float>(sums[i]);
      return {};
    };
  }
  return [=](const KernelArgs& a) -> Status {
    PITWALL_TRY(checkIndices("Embedding", input(a, 0), n, desc.vocabulary));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < desc.width; ++j)
        output(a, 0)[i * desc.width + j] = input(a, 1)[at(input(a, 0)[i]) + j];
    }
    return {};
  };
}

}  // namespace pitwall::reference
