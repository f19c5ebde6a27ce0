// Operators on 8-bit numbers, each element by itself: Quantize, Dequantize, Requantize, Rescale, QuantizedBinary, QuantizedBatchNorm.
#pragma once

#include <algorithm>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/backend/gpu_kernels/numbers.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// A NumberRange in the memory of the GPU.
struct RangeAt {
  const float *minimum, *maximum;

  // NumberRange::scale().
  PITWALL_DEVICE double scale(DType type) const {
    const double least = static_cast<double>(*minimum), most = static_cast<double>(*maximum);
    const double width = type == DType::uint8 ? most - least : fmax(fabs(least), fabs(most));
    const double steps = type == DType::uint8 ? 255.0 : type == DType::int8 ? 127.0 : 2147483647.0;
    return width > 0 ? steps / width : 1;
  }
  // NumberRange::offset().
  PITWALL_DEVICE double offset(DType type) const {
    return type == DType::uint8 ? static_cast<double>(*minimum) : 0;
  }
};

// The real numbers that an array stands for: float32, or int32 with a range.
struct RealNumbers {
  NumbersIn data;
  RangeAt range;  // of int32
  PITWALL_DEVICE double step() const { return data.type == DType::int32 ? 1 / range.scale(DType::int32) : 1; }
};

// The largest number of a part and the largest of the negated ones; NaN has no part in it.
struct PartOfRange {
  std::int64_t n, each;
  RealNumbers real;
  float* extremes;  // two of each part
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t part) const {
    const std::int64_t first = part * each, count = n - first < each ? n - first : each;
    const double step = real.step();
    for (int i = 0; i < 2; ++i) {
      const double sign = i == 0 ? 1 : -1;
      const float most = team.largest(count, [=, this](std::int64_t k) {
        const float value = static_cast<float>(sign * (step * real.data[first + k]));
        return value != value ? -INFINITY : value;
      });
      if (team.isFirst()) extremes[2 * part + i] = most;
    }
  }
};

// NumberRange::of() of what the parts have.
struct WholeRange {
  std::int64_t parts;
  DType type;
  const float* extremes;
  float *minimum, *maximum;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t) const {
    const float* const all = extremes;
    float most = team.largest(parts, [all](std::int64_t i) { return all[2 * i]; });
    float least = -team.largest(parts, [all](std::int64_t i) { return all[2 * i + 1]; });
    if (!team.isFirst()) return;
    if (!(least <= most)) least = most = 0;
    if (type == DType::int8) {
      most = fmaxf(fabsf(least), fabsf(most));
      least = -most;
    }
    *minimum = least;
    *maximum = most;
  }
};

struct StoreRange {
  NumberRange range;
  float *minimum, *maximum;
  PITWALL_DEVICE void operator()(std::int64_t) const {
    *minimum = range.minimum;
    *maximum = range.maximum;
  }
};

struct ToEightBits {
  static constexpr int kInputs = 1;
  RealNumbers real;
  DType type;
  RangeAt range;  // of the result
  PITWALL_DEVICE double operator()(std::int64_t, const double (&x)[1]) const {
    const double value = (real.step() * x[0] - range.offset(type)) * range.scale(type);
    // int8 has no -128: the numbers of both signs are as many.
    return type == DType::int8 && value < -127 ? -127 : value;
  }
};

constexpr std::int64_t kMostPartsOfRange = 1024, kLeastOfRangePart = 4096;

// Of Quantize and Requantize.
template <class L, class Desc>
GpuFunction quantizing(const Desc& desc, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const std::int64_t parts = std::clamp<std::int64_t>(n / kLeastOfRangePart, 1, kMostPartsOfRange);
  const std::int64_t each = (n + parts - 1) / parts;
  if (!desc.is_calibrated) s.workspace_bytes = parts * 2 * static_cast<Bytes>(sizeof(float));
  return [=, from = s.inputs[0].dtype](const KernelArgs& a) {
    L launch(a.context);
    RealNumbers real{numbersIn(a, 0, from), {}};
    if (from == DType::int32) real.range = {input(a, 1), input(a, 2)};
    if (desc.is_calibrated) {
      launch.each(1, StoreRange{desc.range.of(desc.output), output(a, 1), output(a, 2)});
    } else {
      auto* const extremes = static_cast<float*>(a.context.workspace);
      launch.rows((n + each - 1) / each, each, PartOfRange{n, each, real, extremes});
      launch.rows(1, parts,
                  WholeRange{(n + each - 1) / each, desc.output, extremes, output(a, 1), output(a, 2)});
    }
    mapNumbers(launch, n, {real.data}, numbersOut(a, 0, desc.output),
               ToEightBits{real, desc.output, {output(a, 1), output(a, 2)}});
    return launch.status();
  };
}

template <class L>
GpuFunction make(const QuantizeDesc& d, Pass, Signature& s) {
  return quantizing<L>(d, s);
}

template <class L>
GpuFunction make(const RequantizeDesc& d, Pass, Signature& s) {
  return quantizing<L>(d, s);
}

struct ToReal {
  static constexpr int kInputs = 1;
  DType type;
  RangeAt range;
  PITWALL_DEVICE double operator()(std::int64_t, const double (&x)[1]) const {
    return x[0] / range.scale(type) + range.offset(type);
  }
};

template <class L>
GpuFunction make(const DequantizeDesc&, Pass, Signature& s) {
  return [from = s.inputs[0].dtype, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    mapNumbers(launch, n, {numbersIn(a, 0, from)}, numbersOut(a, 0, DType::float32),
               ToReal{from, {input(a, 1), input(a, 2)}});
    return launch.status();
  };
}

struct RescaleNumber {
  static constexpr int kInputs = 1;
  double scale;
  PITWALL_DEVICE double operator()(std::int64_t, const double (&x)[1]) const { return scale * x[0]; }
};

template <class L>
GpuFunction make(const RescaleDesc& d, Pass, Signature& s) {
  return [d, from = s.inputs[0].dtype, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    mapNumbers(launch, n, {numbersIn(a, 0, from)}, numbersOut(a, 0, d.output),
               RescaleNumber{static_cast<double>(d.scale)});
    return launch.status();
  };
}

struct CombineNumbers {
  static constexpr int kInputs = 2;
  bool adds;
  double lhs_scale, rhs_scale;
  PITWALL_DEVICE double operator()(std::int64_t, const double (&x)[2]) const {
    const double lhs = lhs_scale * x[0], rhs = rhs_scale * x[1];
    return adds ? lhs + rhs : lhs * rhs;
  }
};

template <class L>
GpuFunction make(const QuantizedBinaryDesc& d, Pass, Signature& s) {
  return [d, lhs = s.inputs[0].dtype, rhs = s.inputs[1].dtype,
          n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    mapNumbers(launch, n, {numbersIn(a, 0, lhs), numbersIn(a, 1, rhs)}, numbersOut(a, 0, d.output),
               CombineNumbers{d.type == BinaryType::add, static_cast<double>(d.lhs_scale),
                              static_cast<double>(d.rhs_scale)});
    return launch.status();
  };
}

struct NormNumber {
  static constexpr int kInputs = 1;
  ChannelPlace place;
  bool relu;
  const float *scale, *shift;  // of each channel
  PITWALL_DEVICE double operator()(std::int64_t i, const double (&x)[1]) const {
    const std::int64_t channel = place.channelOf(i);
    const double value = static_cast<double>(scale[channel]) * x[0] + static_cast<double>(shift[channel]);
    return relu && value < 0 ? 0 : value;
  }
};

template <class L>
GpuFunction make(const QuantizedBatchNormDesc& d, Pass, Signature& s) {
  const Shape& shape = s.inputs[0].shape;
  const std::int64_t n = shape.elements();
  const ChannelPlace place{shape[1], n / (shape[0] * shape[1]), isChannelsLast(s.inputs[0])};
  return [=, from = s.inputs[0].dtype](const KernelArgs& a) {
    L launch(a.context);
    mapNumbers(launch, n, {numbersIn(a, 0, from)}, numbersOut(a, 0, d.output),
               NormNumber{place, d.relu, input(a, 1), input(a, 2)});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
