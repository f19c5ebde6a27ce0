// Equal shapes share any layout. Shapes that differ are row-major here; oneDNN combines blocked arrays with them.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"
#include "runtime/backend/support/broadcast.h"
#include "runtime/backend/support/extremes.h"

namespace pitwall::cpu_kernels {
namespace {

// Calls use(function of two numbers).
template <class Use>
RunFunction withFunctionOf(BinaryType type, Use use) {
  switch (type) {
    case BinaryType::add: return use([](float a, float b) { return a + b; });
    case BinaryType::subtract: return use([](float a, float b) { return a - b; });
    case BinaryType::multiply: return use([](float a, float b) { return a * b; });
    case BinaryType::divide: return use([](float a, float b) { return a / b; });
    case BinaryType::maximum: return use([](float a, float b) { return largerOf(a, b); });
    case BinaryType::minimum: return use([](float a, float b) { return smallerOf(a, b); });
  }
  return nullptr;
}

template <class Function>
RunFunction zip(std::int64_t n, std::int64_t parallel_from, Function function) {
  return [=](const KernelArgs& args) {
    const float *a = input(args, 0), *b = input(args, 1);
    float* out = output(args, 0);
    parallelFor(n, {parallel_from, args}, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = function(a[i], b[i]);
    });
    return Status{};
  };
}

// A part of a row of the output. Its elements follow each other in a and b, or repeat.
template <class Function>
void combineRow(const Broadcast::Axis& inner, const float* a, const float* b, float* out, std::int64_t n,
                Function function) {
  if (inner.a != 0 && inner.b != 0) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] = function(a[i], b[i]);
  } else if (inner.a != 0) {
    const float repeated = *b;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] = function(a[i], repeated);
  } else {
    const float repeated = *a;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] = function(repeated, b[i]);
  }
}

template <class Function>
RunFunction broadcast(const Broadcast& of, std::int64_t parallel_from, Function function) {
  return [=](const KernelArgs& args) {
    const float *a = input(args, 0), *b = input(args, 1);
    float* out = output(args, 0);
    const Broadcast::Axis inner = of.inner();
    parallelFor(of.rows() * inner.count, {parallel_from, args}, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t at = begin % inner.count, n = std::min(end - begin, inner.count - at);
        const Broadcast::Place row = of.row(begin / inner.count);
        combineRow(inner, a + row.a + at * inner.a, b + row.b + at * inner.b, out + begin, n, function);
        begin += n;
      }
    });
    return Status{};
  };
}

// The gradient of one operand, whose elements may repeat: then it is a sum of `summed` elements, made in `sums`.
class OperandGradient {
 public:
  OperandGradient(float* to, double* sums, std::int64_t summed) : to_(to), sums_(sums), summed_(summed) {
    std::fill_n(sums_, summed_, 0.0);
  }
  void add(std::int64_t at, float value) {
    if (summed_ == 0)
      to_[at] = value;
    else
      sums_[at] += static_cast<double>(value);
  }
  void store() {
    for (std::int64_t i = 0; i < summed_; ++i) to_[i] = static_cast<float>(sums_[i]);
  }

 private:
  float* to_;
  double* sums_;
  std::int64_t summed_;
};

// How many elements of each operand's gradient are sums.
struct Summed {
  std::int64_t a, b;

  Summed(const Shape& of_a, const Shape& of_b, const Shape& out)
      : a(of_a.elements() == out.elements() ? 0 : of_a.elements()),
        b(of_b.elements() == out.elements() ? 0 : of_b.elements()) {}
  Bytes bytes() const { return (a + b) * static_cast<Bytes>(sizeof(double)); }
};

// slope_a and slope_b of two numbers: by how much the output changes with each.
template <class SlopeA, class SlopeB>
RunFunction broadcastGradient(const Broadcast& of, const Summed& summed, SlopeA slope_a, SlopeB slope_b) {
  return [=](const KernelArgs& args) {
    const float *a = input(args, 0), *b = input(args, 1), *dout = input(args, 2);
    const Broadcast::Axis inner = of.inner();
    const std::int64_t rows = of.rows();
    auto* const sums = static_cast<double*>(args.context.workspace);
    OperandGradient da(output(args, 0), sums, summed.a), db(output(args, 1), sums + summed.a, summed.b);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Broadcast::Place row = of.row(r);
      for (std::int64_t i = 0; i < inner.count; ++i) {
        const std::int64_t at_a = row.a + i * inner.a, at_b = row.b + i * inner.b;
        const float head = dout[r * inner.count + i];
        da.add(at_a, slope_a(a, at_a, b, at_b) * head);
        db.add(at_b, slope_b(a, at_a, b, at_b) * head);
      }
    }
    da.store();
    db.store();
    return Status{};
  };
}

RunFunction gradientOf(BinaryType type, const Broadcast& of, const Summed& summed) {
  using Index = std::int64_t;
  const auto one = [](const float*, Index, const float*, Index) { return 1.0F; };
  switch (type) {
    case BinaryType::add: return broadcastGradient(of, summed, one, one);
    case BinaryType::subtract:
      return broadcastGradient(of, summed, one,
                               [](const float*, Index, const float*, Index) { return -1.0F; });
    case BinaryType::multiply:
      return broadcastGradient(
          of, summed, [](const float*, Index, const float* b, Index j) { return b[j]; },
          [](const float* a, Index i, const float*, Index) { return a[i]; });
    case BinaryType::divide:
      return broadcastGradient(
          of, summed, [](const float*, Index, const float* b, Index j) { return 1 / b[j]; },
          [](const float* a, Index i, const float* b, Index j) { return -a[i] / (b[j] * b[j]); });
    case BinaryType::maximum:
      return broadcastGradient(
          of, summed,
          [](const float* a, Index i, const float* b, Index j) { return a[i] >= b[j] ? 1.0F : 0.0F; },
          [](const float* a, Index i, const float* b, Index j) { return a[i] < b[j] ? 1.0F : 0.0F; });
    case BinaryType::minimum:
      return broadcastGradient(
          of, summed,
          [](const float* a, Index i, const float* b, Index j) { return a[i] <= b[j] ? 1.0F : 0.0F; },
          [](const float* a, Index i, const float* b, Index j) { return a[i] > b[j] ? 1.0F : 0.0F; });
  }
  return nullptr;
}

// A blocked layout takes precedence: otherwise two reorders, to row-major and back, would be needed.
const TensorSpec& leaderOf(std::span<const TensorSpec> inputs) {
  for (const TensorSpec& spec : inputs) {
    if (spec.layout != nullptr) return spec;
  }
  return inputs[0];
}

RunFunction makeBinaryGradient(const BinaryDesc& desc, const Request& r, Signature& s) {
  const bool reads = desc.type != BinaryType::add && desc.type != BinaryType::subtract;
  const Shape out = s.inputs[2].shape;
  if (s.inputs[0].shape == s.inputs[1].shape) {
    // Elements in memory, as if they were on one axis.
    shareLayout(reads ? leaderOf(r.inputs) : r.inputs[2], desc.type != BinaryType::divide, s);
    const Shape stored{storedElements(s.inputs[2])};
    if (!reads) s.inputs[0].layout = r.inputs[0].layout, s.inputs[1].layout = r.inputs[1].layout;
    return gradientOf(desc.type, {stored, stored, stored}, {stored, stored, stored});
  }
  if (!reads) s.inputs[0].layout = r.inputs[0].layout, s.inputs[1].layout = r.inputs[1].layout;
  const Shape &a = s.inputs[0].shape, &b = s.inputs[1].shape;
  const Summed summed(a, b, out);
  s.workspace_bytes = summed.bytes();
  return gradientOf(desc.type, {a, b, out}, summed);
}

}  // namespace

RunFunction make(const BinaryDesc& desc, const Request& r, Signature& s) {
  if (r.pass == Pass::backward) return makeBinaryGradient(desc, r, s);
  const std::int64_t parallel_from = r.options.parallel_elements;
  const Shape &a = s.inputs[0].shape, &b = s.inputs[1].shape, &out = s.outputs[0].shape;
  if (a == b) {
    shareLayout(leaderOf(r.inputs), desc.type != BinaryType::divide, s);
    const std::int64_t n = storedElements(s.inputs[0]);
    return withFunctionOf(desc.type, [&](auto function) { return zip(n, parallel_from, function); });
  }
  for (const TensorSpec& spec : r.inputs) {
    if (spec.layout != nullptr && spec.shape == out) return nullptr;  // oneDNN's
  }
  const Broadcast of(a, b, out);
  return withFunctionOf(desc.type, [&](auto function) { return broadcast(of, parallel_from, function); });
}

}  // namespace pitwall::cpu_kernels
