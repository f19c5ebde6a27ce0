// A loop over the data, whose elements follow each other, with the output's beside them. Threads have parts of the
// outermost axis where that is kept, else one thread computes. Sums are in double.
#include <limits>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/broadcast.h"
#include "runtime/backend/support/extremes.h"

namespace pitwall::cpu_kernels {
namespace {

struct Reduction {
  Broadcast of;  // the output (a), which repeats, and the data (b)
  std::int64_t results, parallel_from;
  double scale;  // of the result

  // Calls body(first row, last row); rows of different calls have different outputs.
  template <class Body>
  void parts(const KernelArgs& args, Body body) const {
    const Broadcast::Axis& outermost = of.axes[0];
    const bool shared = of.rank > 1 && outermost.a != 0;
    if (!shared) return body(std::int64_t{0}, of.rows());
    const std::int64_t rows = of.rows() / outermost.count;
    parallelFor(outermost.count, Split::ofRows(parallel_from, rows * of.inner().count, args),
                [&](std::int64_t begin, std::int64_t end) { body(begin * rows, end * rows); });
  }
};

template <class Combine>
void reduceRows(const Reduction& r, const float* data, double* results, std::int64_t begin, std::int64_t end,
                Combine combine) {
  const Broadcast::Axis& inner = r.of.inner();
  for (std::int64_t row = begin; row < end; ++row) {
    const Broadcast::Place at = r.of.row(row);
    const float* from = data + at.b;
    double* to = results + at.a;
    if (inner.a == 0) {
      double result = *to;
      for (std::int64_t i = 0; i < inner.count; ++i)
        result = combine(result, static_cast<double>(from[i * inner.b]));
      *to = result;
    } else {
#pragma omp simd
      for (std::int64_t i = 0; i < inner.count; ++i) to[i] = combine(to[i], static_cast<double>(from[i]));
    }
  }
}

template <class Combine>
RunFunction reduction(const Reduction& r, double neutral, Combine combine) {
  return [=](const KernelArgs& a) {
    auto* const results = static_cast<double*>(a.context.workspace);
    std::fill_n(results, r.results, neutral);
    r.parts(a, [&](std::int64_t begin, std::int64_t end) {
      reduceRows(r, input(a, 0), results, begin, end, combine);
    });
    for (std::int64_t i = 0; i < r.results; ++i) output(a, 0)[i] = static_cast<float>(results[i] * r.scale);
    return Status{};
  };
}

// Each element's share of the gradient of its output.
RunFunction reductionGradient(const Reduction& r, bool selects) {
  return [=](const KernelArgs& a) {
    const float *data = input(a, 0), *out = input(a, 1), *dout = input(a, 2);
    float* ddata = output(a, 0);
    const float scale = static_cast<float>(r.scale);
    const Broadcast::Axis inner = r.of.inner();
    parallelFor(r.of.rows(), Split::ofRows(r.parallel_from, inner.count, a),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t row = begin; row < end; ++row) {
                    const Broadcast::Place at = r.of.row(row);
                    for (std::int64_t i = 0; i < inner.count; ++i) {
                      const std::int64_t o = at.a + i * inner.a, d = at.b + i * inner.b;
                      ddata[d] = !selects || data[d] == out[o] ? dout[o] * scale : 0.0F;
                    }
                  }
                });
    return Status{};
  };
}

}  // namespace

RunFunction make(const ReduceDesc& desc, const Request& r, Signature& s) {
  const Shape &data = s.inputs[0].shape, kept = desc.kept(data);
  const double share = static_cast<double>(kept.elements()) / static_cast<double>(data.elements());
  const Reduction reduced{{kept, data, data},
                          kept.elements(),
                          r.options.parallel_elements,
                          desc.type == ReduceType::mean ? share : 1};
  const bool selects = desc.type == ReduceType::maximum || desc.type == ReduceType::minimum;
  if (r.pass == Pass::backward) {
    if (!selects)
      s.inputs[0].layout = r.inputs[0].layout, s.inputs[1].layout = r.inputs[1].layout;  // not read
    return reductionGradient(reduced, selects);
  }
  s.workspace_bytes = kept.elements() * static_cast<Bytes>(sizeof(double));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (desc.type == ReduceType::maximum)
    return reduction(reduced, -kInfinity, [](double a, double b) { return largerOf(a, b); });
  if (desc.type == ReduceType::minimum)
    return reduction(reduced, kInfinity, [](double a, double b) { return smallerOf(a, b); });
  return reduction(reduced, 0, [](double a, double b) { return a + b; });
}

}  // namespace pitwall::cpu_kernels
