// Operators that only move elements: concat, slice_axis, SliceChannel, transpose, take, Embedding.
#pragma once

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/elementwise.h"
#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/labels.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// Rows of `width` elements, of which the part has `part` from `begin` on.
struct PartPlace {
  std::int64_t width, part, begin;
  PITWALL_DEVICE std::int64_t whole(std::int64_t i) const { return i / part * width + begin + i % part; }
};

template <class E>
struct ToWhole {
  PartPlace z;
  const E* part;
  E* whole;
  PITWALL_DEVICE void operator()(std::int64_t i) const { whole[z.whole(i)] = part[i]; }
};

template <class E>
struct FromWhole {
  PartPlace z;
  const E* whole;
  E* part;
  PITWALL_DEVICE void operator()(std::int64_t i) const { part[i] = whole[z.whole(i)]; }
};

// Parts beside each other: the elements of each in a row.
struct PartList {
  std::int64_t rows = 1;
  std::vector<std::int64_t> parts = {};
  std::int64_t width() const { return std::accumulate(parts.begin(), parts.end(), std::int64_t{0}); }
};

template <class L, class E>
GpuFunction joinParts(const PartList& list) {
  return [list](const KernelArgs& a) {
    L launch(a.context);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < list.parts.size(); begin += list.parts[i++]) {
      launch.each(list.rows * list.parts[i],
                  ToWhole<E>{{list.width(), list.parts[i], begin}, arrayIn<E>(a, i).at, arrayOut<E>(a, 0)});
    }
    return launch.status();
  };
}

template <class L, class E>
GpuFunction separateParts(const PartList& list, std::size_t whole) {
  return [list, whole](const KernelArgs& a) {
    L launch(a.context);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < list.parts.size(); begin += list.parts[i++]) {
      launch.each(
          list.rows * list.parts[i],
          FromWhole<E>{{list.width(), list.parts[i], begin}, arrayIn<E>(a, whole).at, arrayOut<E>(a, i)});
    }
    return launch.status();
  };
}

template <class L, class E>
GpuFunction makeOf(const ConcatDesc& d, Pass pass, Signature& s) {
  const auto count = static_cast<std::size_t>(d.inputs);
  const bool backward = pass == Pass::backward;
  // Channels that are last are joined pixel by pixel.
  const Shape& data = s.inputs[0].shape;
  const bool channels_last = isChannelsLast(backward ? s.inputs[count] : s.outputs[0]);
  PartList list{channels_last ? data[0] * data[2] * data[3] : axisExtents(data, d.axis).outer};
  for (std::size_t i = 0; i < count; ++i) list.parts.push_back(s.inputs[i].shape.elements() / list.rows);
  return backward ? separateParts<L, E>(list, count) : joinParts<L, E>(list);
}
PITWALL_FOR_ELEMENTS(ConcatDesc)

template <class L, class E>
GpuFunction makeOf(const SliceChannelDesc& d, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const AxisExtents e = axisExtents(backward ? s.outputs[0].shape : s.inputs[0].shape, d.axis);
  const PartList list{e.outer,
                      std::vector(static_cast<std::size_t>(d.outputs), e.count / d.outputs * e.inner)};
  return backward ? joinParts<L, E>(list) : separateParts<L, E>(list, 0);
}
PITWALL_FOR_ELEMENTS(SliceChannelDesc)

// The whole from a part: zeros elsewhere.
template <class E>
struct Surround {
  PartPlace z;
  const E* part;
  E* whole;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = i / z.width, at = i % z.width - z.begin;
    whole[i] = at >= 0 && at < z.part ? part[row * z.part + at] : E{};
  }
};

template <class L, class E>
GpuFunction makeOf(const SliceAxisDesc& d, Pass pass, Signature& s) {
  const AxisExtents e = axisExtents(s.inputs[0].shape, d.axis);
  const SliceAxisDesc range = d.of(e.count);
  const std::int64_t part = (range.end - range.begin) * e.inner;
  const PartPlace z{e.count * e.inner, part, range.begin * e.inner};
  return [=](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.each(e.outer * z.width, Surround<E>{z, arrayIn<E>(a, 1).at, arrayOut<E>(a, 0)});
    else
      launch.each(e.outer * part, FromWhole<E>{z, arrayIn<E>(a, 0).at, arrayOut<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(SliceAxisDesc)

template <class E>
struct Transpose {
  Axes out;  // from an index of the output to the data
  bool backward;
  const E* from;
  E* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t at = out.offset(i);
    if (backward)
      to[at] = from[i];
    else
      to[i] = from[at];
  }
};

template <class L, class E>
GpuFunction makeOf(const TransposeDesc& d, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const Shape data = backward ? s.outputs[0].shape : s.inputs[0].shape;
  const Shape out = backward ? s.inputs[0].shape : s.outputs[0].shape;
  const TransposeDesc order = d.of(data.rank());
  std::int64_t steps[Shape::kMaxRank] = {}, step = 1;
  for (int i = data.rank() - 1; i >= 0; --i) {
    steps[i] = step;
    step *= data[i];
  }
  Axes axes{{}, {}, 0};
  for (int i = 0; i < out.rank(); ++i) axes.append(out[i], steps[order.axes[static_cast<std::size_t>(i)]]);
  return [=, n = out.elements()](const KernelArgs& a) {
    L launch(a.context);
    launch.each(n, Transpose<E>{axes, backward, arrayIn<E>(a, 0).at, arrayOut<E>(a, 0)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(TransposeDesc)

// Rows of an axis that indices select (runtime/backend/support/selected_rows.h).
struct Selection {
  TakeMode mode;
  std::int64_t count, inner, indices;  // of the axis; of a row; how many select
  const float* index;
  GpuProblem* problem;

  PITWALL_DEVICE std::int64_t element(std::int64_t j) const {
    const float given = index[j];
    if (mode == TakeMode::raise) {
      const bool is_row = given >= 0 && given < static_cast<float>(count) && truncf(given) == given;
      if (is_row) return static_cast<std::int64_t>(given);
      report(problem, j, given);
      return 0;
    }
    if (given != given) return 0;
    const double whole = trunc(static_cast<double>(given)), n = static_cast<double>(count);
    if (mode == TakeMode::clip)
      return static_cast<std::int64_t>(whole < 0 ? 0 : whole > n - 1 ? n - 1 : whole);
    if (whole - whole != 0) return 0;  // infinite
    const double rest = fmod(whole, n);
    return static_cast<std::int64_t>(rest < 0 ? rest + n : rest);
  }
  // Where element i of the output is in the data.
  PITWALL_DEVICE std::int64_t from(std::int64_t i) const {
    const std::int64_t j = i / inner % indices, block = i / (inner * indices);
    return (block * count + element(j)) * inner + i % inner;
  }
};

template <class E>
struct Take {
  Selection z;
  const E* data;
  E* out;
  PITWALL_DEVICE void operator()(std::int64_t i) const { out[i] = data[z.from(i)]; }
};

struct SetZero {
  float* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const { to[i] = 0; }
};

struct TakeGradient {
  Selection z;
  const float* dout;
  float* ddata;
  PITWALL_DEVICE void operator()(std::int64_t i) const { addTo(&ddata[z.from(i)], dout[i]); }
};

struct SelectedInputs {
  std::size_t data, indices, dout;
};

// `type`: of the data. Gradients are float32, as they are added by several threads.
template <class L>
GpuFunction selectRows(const char* name, TakeMode mode, AxisExtents e, DType type, std::int64_t indices,
                       SelectedInputs at, Pass pass) {
  const std::int64_t n = e.outer * indices * e.inner, whole = e.outer * e.count * e.inner;
  RunFunction run = [=](const KernelArgs& a) {
    L launch(a.context);
    const Selection z{mode, e.count, e.inner, indices, input(a, at.indices), a.context.problem};
    if (pass == Pass::backward) {
      launch.each(whole, SetZero{output(a, 0)});
      launch.each(n, TakeGradient{z, input(a, at.dout), output(a, 0)});
      return launch.status();
    }
    withElementType(type, [&](auto element) {
      using E = decltype(element);
      launch.each(n, Take<E>{z, arrayIn<E>(a, at.data).at, arrayOut<E>(a, 0)});
      return 0;
    });
    return launch.status();
  };
  if (mode != TakeMode::raise) return GpuFunction(std::move(run), nullptr);
  return GpuFunction(std::move(run), [name, count = e.count](const GpuProblem& p) -> Status {
    return badIndex(name, p.index, p.value, count);
  });
}

template <class L>
GpuFunction make(const TakeDesc& d, Pass pass, Signature& s) {
  return selectRows<L>("take", d.mode, axisExtents(s.inputs[0].shape, d.axis), s.inputs[0].dtype,
                       s.inputs[1].shape.elements(), {0, 1, 2}, pass);
}

template <class L>
GpuFunction make(const EmbeddingDesc& d, Pass pass, Signature& s) {
  return selectRows<L>("Embedding", TakeMode::raise, {1, d.vocabulary, d.width}, s.inputs[1].dtype,
                       s.inputs[0].shape.elements(), {1, 0, 1}, pass);
}

}  // namespace pitwall::gpu_kernels
