#include <algorithm>
#include <cmath>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/labels.h"

namespace pitwall::reference {
namespace {

struct CrossEntropySizes {
  std::int64_t samples, classes;
};

Status forward(const CrossEntropySizes& z, const KernelArgs& a) {
  for (std::int64_t n = 0; n < z.samples; ++n) {
    const float label = input(a, 1)[n];
    if (!isClass(label, z.classes)) return badLabel("SoftmaxCrossEntropy", n, label, z.classes);
    const float* row = input(a, 0) + n * z.classes;
    const double largest = static_cast<double>(*std::max_element(row, row + z.classes));
    double sum = 0;
    for (std::int64_t c = 0; c < z.classes; ++c) sum += std::exp(static_cast<double>(row[c]) - largest);
    for (std::int64_t c = 0; c < z.classes; ++c) {
      output(a, 1)[n * z.classes + c] =
          static_cast<float>(std::exp(static_cast<double>(row[c]) - largest) / sum);
    }
    const double score = static_cast<double>(row[static_cast<std::int64_t>(label)]);
    output(a, 0)[n] = static_cast<float>(std::log(sum) - (score - largest));
  }
  return {};
}

Status backward(const CrossEntropySizes& z, const KernelArgs& a) {
  for (std::int64_t n = 0; n < z.samples; ++n) {
    const float label = input(a, 1)[n];
    if (!isClass(label, z.classes)) return badLabel("SoftmaxCrossEntropy", n, label, z.classes);
    for (std::int64_t c = 0; c < z.classes; ++c) {
      const float target = c == static_cast<std::int64_t>(label) ? 1 : 0;
      output(a, 0)[n * z.classes + c] = (input(a, 0)[n * z.classes + c] - target) * input(a, 2)[n];
    }
  }
  return {};
}

}  // namespace

RunFunction make(const SoftmaxCrossEntropyDesc&, Pass pass, Signature& s) {
  const CrossEntropySizes z{s.inputs[0].shape[0], s.inputs[0].shape[1]};
  const bool is_backward = pass == Pass::backward;
  return [z, is_backward](const KernelArgs& a) { return is_backward ? backward(z, a) : forward(z, a); };
}

}  // namespace pitwall::reference
