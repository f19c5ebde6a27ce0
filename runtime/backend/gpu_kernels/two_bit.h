// Gradients as codes of 2 bits, and their sum.
#pragma once

#include <algorithm>

#include "runtime/backend/gpu_kernels/launch.h"
#include "runtime/backend/support/two_bit.h"
#include "runtime/operators/two_bit_compress.h"
#include "runtime/operators/two_bit_sum.h"

namespace pitwall::gpu_kernels {

// A thread for each byte.
struct TwoBitCompress {
  std::int64_t count;
  float threshold;
  const float* gradient;
  float* residual;
  std::uint8_t* codes;
  PITWALL_DEVICE void operator()(std::int64_t byte) const {
    const std::int64_t at = 4 * byte;
    codes[byte] = twoBitByte(gradient + at, residual + at, count - at, threshold);
  }
};

template <class L>
GpuFunction make(const TwoBitCompressDesc& d, Pass, Signature& s) {
  return [count = s.inputs[0].shape.elements(), threshold = d.threshold](const KernelArgs& a) {
    L launch(a.context);
    launch.each(twoBitBytes(count), TwoBitCompress{count, threshold, input(a, 0), output(a, 1),
                                                   static_cast<std::uint8_t*>(a.outputs[0])});
    return launch.status();
  };
}

struct TwoBitSum {
  static constexpr int kMost = 8;  // arrays of codes
  int arrays;
  bool adds;  // to what is there
  float threshold;
  const std::uint8_t* codes[kMost];
  float* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    float sum = adds ? to[i] : 0;
    for (int k = 0; k < arrays; ++k) sum += twoBitValue(codes[k], i, threshold);
    to[i] = sum;
  }
};

template <class L>
GpuFunction make(const TwoBitSumDesc& d, Pass, Signature& s) {
  return [count = s.outputs[0].shape.elements(), threshold = d.threshold](const KernelArgs& a) {
    L launch(a.context);
    for (std::size_t first = 0; first < a.inputs.size(); first += TwoBitSum::kMost) {
      const std::size_t arrays = std::min<std::size_t>(a.inputs.size() - first, TwoBitSum::kMost);
      TwoBitSum sum{static_cast<int>(arrays), first > 0, threshold, {}, output(a, 0)};
      for (std::size_t k = 0; k < arrays; ++k)
        sum.codes[k] = static_cast<const std::uint8_t*>(a.inputs[first + k]);
      launch.each(count, sum);
    }
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
