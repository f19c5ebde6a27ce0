// Rows are copied, or their gradients added, in the order of the indices.
#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/indices.h"

namespace pitwall::cpu_kernels {
namespace {

struct TakenRows {
  TakeMode mode;
  AxisExtents e;
  std::int64_t n;  // indices

  std::int64_t whole(std::int64_t o, float index) const {
    return (o * e.count + takenElement(mode, index, e.count)) * e.inner;
  }
  std::int64_t part(std::int64_t o, std::int64_t j) const { return (o * n + j) * e.inner; }
};

void takeRows(const TakenRows& t, const KernelArgs& a, Split split) {
  parallelFor(t.e.outer * t.n, split, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t o = row / t.n, j = row % t.n;
      std::copy_n(input(a, 0) + t.whole(o, input(a, 1)[j]), t.e.inner, output(a, 0) + t.part(o, j));
    }
  });
}

// Two indices may be equal: one thread adds all of a block.
void addTakenRows(const TakenRows& t, const KernelArgs& a, Split split) {
  const std::int64_t block = t.e.count * t.e.inner;
  parallelFor(t.e.outer, split, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      std::fill_n(output(a, 0) + o * block, block, 0.0F);
      for (std::int64_t j = 0; j < t.n; ++j) {
        float* to = output(a, 0) + t.whole(o, input(a, 1)[j]);
        const float* from = input(a, 2) + t.part(o, j);
#pragma omp simd
        for (std::int64_t i = 0; i < t.e.inner; ++i) to[i] += from[i];
      }
    }
  });
}

}  // namespace

RunFunction make(const TakeDesc& desc, const Request& r, Signature& s) {
  const TakenRows rows{desc.mode, axisExtents(s.inputs[0].shape, desc.axis), s.inputs[1].shape.elements()};
  const bool backward = r.pass == Pass::backward;
  if (backward) s.inputs[0].layout = r.inputs[0].layout;  // not read
  const std::int64_t size = backward ? (rows.e.count + rows.n) * rows.e.inner : rows.e.inner;
  return [=, from = r.options.parallel_elements / size](const KernelArgs& a) -> Status {
    if (rows.mode == TakeMode::raise) PITWALL_TRY(checkIndices("take", input(a, 1), rows.n, rows.e.count));
    backward ? addTakenRows(rows, a, {from, a}) : takeRows(rows, a, {from, a});
    return {};
  };
}

}  // namespace pitwall::cpu_kernels
