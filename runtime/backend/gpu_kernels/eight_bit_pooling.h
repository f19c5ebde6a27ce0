// Maxima and averages of 8-bit images.
#pragma once

#include <bit>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/numbers.h"
#include "runtime/backend/gpu_kernels/pooling_place.h"

namespace pitwall::gpu_kernels {

// Few: one number, or those of four neighbouring channels, which count as one channel of `z`.
template <class Code, class Few>
struct PoolCodes {
  static constexpr int kCount = static_cast<int>(sizeof(Few));
  struct Codes {
    Code x[kCount];
  };
  PoolingPlace z;
  const Few* data;
  Few* to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const auto [pixel, channel] = z.spot(i, z.out[0] * z.out[1]);
    const std::int64_t y = quotientOf(pixel, z.out[1]), x = remainderOf(pixel, z.out[1]), step = z.step();
    const Few* const from = data + z.begin(channel, z.extent[0] * z.extent[1]);
    std::int32_t sum[kCount] = {}, most[kCount];
    for (int k = 0; k < kCount; ++k) most[k] = std::numeric_limits<Code>::min();
    for (std::int64_t row = z.first(0, y); row < z.last(0, y); ++row) {
      for (std::int64_t column = z.first(1, x); column < z.last(1, x); ++column) {
        const auto codes = std::bit_cast<Codes>(from[(row * z.extent[1] + column) * step]);
        for (int k = 0; k < kCount; ++k) {
          sum[k] += codes.x[k];
          most[k] = codes.x[k] > most[k] ? codes.x[k] : most[k];
        }
      }
    }
    const double divisor = static_cast<double>(z.divisor(y, x));
    Codes made;
    for (int k = 0; k < kCount; ++k)
      made.x[k] = nearestNumber<Code>(z.type == PoolingType::max ? most[k] : sum[k] / divisor);
    to[i] = std::bit_cast<Few>(made);
  }
};

template <class L, class Code>
GpuFunction eightBitPooling(const PoolingDesc& given, Signature& s) {
  const Shape &data = s.inputs[0].shape, &out = s.outputs[0].shape;
  PoolingPlace z = poolingPlace(given.over(data), windowOf(data, out), isChannelsLast(s.inputs[0]));
  const bool fours = z.channels_last && z.channels % 4 == 0;
  if (fours) z.channels /= 4;
  return [=, n = out.elements()](const KernelArgs& a) {
    L launch(a.context);
    const auto put = [&](auto few) {
      using Few = decltype(few);
      launch.each(
          n / static_cast<std::int64_t>(sizeof(Few)),
          PoolCodes<Code, Few>{z, static_cast<const Few*>(a.inputs[0]), static_cast<Few*>(a.outputs[0])});
    };
    fours ? put(Four<Code>{}) : put(Code{});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
