// Arithmetic of arrays whose axes repeat or are summed: binary operators, reduce, chains of functions (Pointwise).
#pragma once

#include <algorithm>

#include "runtime/backend/gpu_kernels/elementwise.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// The steps of an array's axes as those of the output visit them; 0 where it repeats.
inline Axes axesOf(const Shape& array, const Shape& out) {
  Axes axes{{}, {}, 0};
  std::int64_t steps[Axes::kMost] = {}, step = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const int at = i - (out.rank() - array.rank());
    const std::int64_t extent = at < 0 ? 1 : array[at];
    steps[i] = extent == 1 ? 0 : step;
    step *= extent;
  }
  for (int i = 0; i < out.rank(); ++i) axes.append(out[i], steps[i]);
  return axes;
}

template <class E>
struct Combine {
  BinaryType type;
  In<E> a, b;
  PITWALL_DEVICE float operator()(std::int64_t i) const { return combined(type, a[i], b[i]); }
};

struct CombineRepeating {
  BinaryType type;
  Axes of_a, of_b;
  const float *a, *b;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    return combined(type, a[of_a.offset(i)], b[of_b.offset(i)]);
  }
};

// The gradient of one of the two: an element's is summed over the outputs that it repeats in.
struct CombineGradient {
  BinaryType type;
  bool is_a, reads;
  Axes own, repeats;   // offsets in the output: of the element, and of its repetitions
  Axes of_a, of_b;     // of an output's index
  std::int64_t count;  // repetitions
  const float *a, *b, *dout;
  float* gradient;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t element) const {
    const std::int64_t first = own.offset(element);
    const double sum = team.sum(count, [=, this](std::int64_t k) {
      const std::int64_t o = first + repeats.offset(k);
      const float x = reads ? a[of_a.offset(o)] : 0.0F, y = reads ? b[of_b.offset(o)] : 0.0F;
      return static_cast<double>(dout[o] * (is_a ? slopeOfA(type, x, y) : slopeOfB(type, x, y)));
    });
    if (team.isFirst()) gradient[element] = static_cast<float>(sum);
  }
};

// The axes of the output in which the array repeats, or those in which it does not, with their steps in the output.
inline Axes axesIn(const Shape& array, const Shape& out, bool repeating) {
  std::int64_t steps[Axes::kMost] = {}, step = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    steps[i] = step;
    step *= out[i];
  }
  Axes axes{{}, {}, 0};
  for (int i = 0; i < out.rank(); ++i) {
    const int at = i - (out.rank() - array.rank());
    const bool repeats = (at < 0 || array[at] == 1) && out[i] != 1;
    if (repeats == repeating) axes.append(out[i], steps[i]);
  }
  return axes;
}

template <class L>
GpuFunction binaryGradient(BinaryType type, const Shape& out, Signature& s) {
  const Shape a_shape = s.inputs[0].shape, b_shape = s.inputs[1].shape;
  s.workspace_bytes = a_shape.elements() * 4;
  const bool reads = type != BinaryType::add && type != BinaryType::subtract;
  const Axes of_a = axesOf(a_shape, out), of_b = axesOf(b_shape, out);
  const Axes own_a = axesIn(a_shape, out, false), own_b = axesIn(b_shape, out, false);
  const Axes repeats_a = axesIn(a_shape, out, true), repeats_b = axesIn(b_shape, out, true);
  const std::int64_t a_count = a_shape.elements(), b_count = b_shape.elements();
  return [=](const KernelArgs& args) {
    L launch(args.context);
    // The gradients may have the place of what both are computed from.
    auto* const da = static_cast<float*>(args.context.workspace);
    const std::int64_t of_one_a = repeats_a.elements(), of_one_b = repeats_b.elements();
    launch.rows(a_count, of_one_a,
                CombineGradient{type, true, reads, own_a, repeats_a, of_a, of_b, of_one_a, input(args, 0),
                                input(args, 1), input(args, 2), da});
    launch.rows(b_count, of_one_b,
                CombineGradient{type, false, reads, own_b, repeats_b, of_a, of_b, of_one_b, input(args, 0),
                                input(args, 1), input(args, 2), output(args, 1)});
    launch.map(a_count, output(args, 0), CopyElement<float>{{da}});
    return launch.status();
  };
}

// The same where neither repeats: each element of both gradients by itself. The gradients may have the place of a and b.
template <class E>
struct CombineGradients {
  BinaryType type;
  bool reads;
  In<E> a, b, dout;
  E *da, *db;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float x = reads ? a[i] : 0.0F, y = reads ? b[i] : 0.0F, head = dout[i];
    da[i] = stored<E>(head * slopeOfA(type, x, y));
    db[i] = stored<E>(head * slopeOfB(type, x, y));
  }
};

// Of arrays of one shape.
template <class L, class E>
GpuFunction combineAlike(BinaryType type, Pass pass, std::int64_t n) {
  const bool reads = type != BinaryType::add && type != BinaryType::subtract;
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n, CombineGradients<E>{type, reads, arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2),
                                         arrayOut<E>(a, 0), arrayOut<E>(a, 1)});
      return launch.status();
    };
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, arrayOut<E>(a, 0), Combine<E>{type, arrayIn<E>(a, 0), arrayIn<E>(a, 1)});
    return launch.status();
  };
}

template <class L>
GpuFunction make(const BinaryDesc& d, Pass pass, Signature& s) {
  const Shape a_shape = s.inputs[0].shape, b_shape = s.inputs[1].shape;
  if (a_shape == b_shape)
    return withElementType(s.outputs[0].dtype, [&](auto element) {
      return combineAlike<L, decltype(element)>(d.type, pass, a_shape.elements());
    });
  if (pass == Pass::backward) return binaryGradient<L>(d.type, s.inputs[2].shape, s);
  const Axes of_a = axesOf(a_shape, s.outputs[0].shape), of_b = axesOf(b_shape, s.outputs[0].shape);
  return [=, type = d.type, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    launch.map(n, output(a, 0), CombineRepeating{type, of_a, of_b, input(a, 0), input(a, 1)});
    return launch.status();
  };
}

struct ReduceRow {
  ReduceType type;
  Axes kept, reduced;  // offsets in the data
  std::int64_t count;
  float divisor;
  const float* x;
  float* y;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t at = kept.offset(row);
    float result = 0;
    if (type == ReduceType::maximum) {
      result = team.largest(count, [=, this](std::int64_t k) { return x[at + reduced.offset(k)]; });
    } else if (type == ReduceType::minimum) {
      result = -team.largest(count, [=, this](std::int64_t k) { return -x[at + reduced.offset(k)]; });
    } else {
      result = static_cast<float>(team.sum(count, [=, this](std::int64_t k) {
        return static_cast<double>(x[at + reduced.offset(k)]);
      }) / static_cast<double>(divisor));
    }
    if (team.isFirst()) y[row] = result;
  }
};

struct ReduceGradient {
  bool selects;
  Axes to;  // from an index of the data to the output
  float divisor;
  const float *x, *y, *dy;
  float* dx;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t o = to.offset(i);
    dx[i] = !selects || x[i] == y[o] ? dy[o] / divisor : 0;
  }
};

template <class L>
GpuFunction make(const ReduceDesc& d, Pass pass, Signature& s) {
  const Shape data = s.inputs[0].shape, kept_shape = d.kept(data);
  const ReduceType type = d.type;
  const std::int64_t count = data.elements() / std::max<std::int64_t>(kept_shape.elements(), 1);
  const float divisor = type == ReduceType::mean ? static_cast<float>(count) : 1;
  const bool selects = type == ReduceType::maximum || type == ReduceType::minimum;
  if (pass == Pass::backward)
    return [=, to = axesOf(kept_shape, data), n = data.elements()](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n,
                  ReduceGradient{selects, to, divisor, input(a, 0), input(a, 1), input(a, 2), output(a, 0)});
      return launch.status();
    };
  const Axes kept = axesIn(kept_shape, data, false), reduced = axesIn(kept_shape, data, true);
  return [=, rows = kept_shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    launch.rows(rows, count, ReduceRow{type, kept, reduced, count, divisor, input(a, 0), output(a, 0)});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
