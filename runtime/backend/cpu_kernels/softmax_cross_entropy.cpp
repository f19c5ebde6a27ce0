// One pass per sample: largest score, exponentials and their sum, then loss and probabilities. A sample's row
// is in the cache for all three.
#include <algorithm>
#include <cmath>

#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/labels.h"

namespace pitwall::cpu_kernels {
namespace {

struct Sizes {
  std::int64_t samples, classes, parallel_from;

  // Rows are split among threads by the number of elements they hold.
  template <class Body>
  void rows(const KernelArgs& args, Body body) const {
    parallelFor(samples, Split::ofRows(parallel_from, classes, args),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t n = begin; n < end; ++n) body(n);
                });
  }
};

Status checkLabels(const Sizes& z, const float* labels) {
  for (std::int64_t n = 0; n < z.samples; ++n) {
    if (!isClass(labels[n], z.classes)) return badLabel("SoftmaxCrossEntropy", n, labels[n], z.classes);
  }
  return {};
}

Status forward(const Sizes& z, const KernelArgs& a) {
  const float *data = input(a, 0), *labels = input(a, 1);
  float *loss = output(a, 0), *probability = output(a, 1);
  PITWALL_TRY(checkLabels(z, labels));
  z.rows(a, [=](std::int64_t n) {
    const float* row = data + n * z.classes;
    float* p = probability + n * z.classes;
    float largest = row[0];
    for (std::int64_t c = 1; c < z.classes; ++c) largest = std::max(largest, row[c]);
    float sum = 0;
    for (std::int64_t c = 0; c < z.classes; ++c) sum += p[c] = std::exp(row[c] - largest);
    loss[n] = std::log(sum) - (row[static_cast<std::int64_t>(labels[n])] - largest);
    const float scale = 1 / sum;
    for (std::int64_t c = 0; c < z.classes; ++c) p[c] *= scale;
  });
  return {};
}

Status backward(const Sizes& z, const KernelArgs& a) {
  const float *probability = input(a, 0), *labels = input(a, 1), *dloss = input(a, 2);
  float* ddata = output(a, 0);
  PITWALL_TRY(checkLabels(z, labels));
  z.rows(a, [=](std::int64_t n) {
    for (std::int64_t i = n * z.classes; i < (n + 1) * z.classes; ++i) ddata[i] = probability[i] * dloss[n];
    ddata[n * z.classes + static_cast<std::int64_t>(labels[n])] -= dloss[n];
  });
  return {};
}

}  // namespace

RunFunction make(const SoftmaxCrossEntropyDesc&, const Request& r, Signature& s) {
  const Sizes z{s.inputs[0].shape[0], s.inputs[0].shape[1], r.options.parallel_elements};
  const auto compute = r.pass == Pass::backward ? backward : forward;
  return [z, compute](const KernelArgs& a) { return compute(z, a); };
}

}  // namespace pitwall::cpu_kernels
