// QuantizedConvolution and QuantizedFullyConnected. Sums of products are integers of 32 bits: exact up to 65 thousand products of the
// largest numbers.
#pragma once

#include <bit>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/numbers.h"
#include "runtime/backend/gpu_kernels/products.h"
#include "runtime/backend/gpu_kernels/weight_fours.h"

namespace pitwall::gpu_kernels {

// sum + the products of four numbers with four others.
#ifdef __CUDA_ARCH__
__device__ inline std::int32_t addProducts(std::int32_t sum, Four<std::int8_t> a, Four<std::int8_t> b) {
  return __dp4a(std::bit_cast<std::int32_t>(a), std::bit_cast<std::int32_t>(b), sum);
}
__device__ inline std::int32_t addProducts(std::int32_t sum, Four<std::uint8_t> a, Four<std::int8_t> b) {
  std::int32_t result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(std::bit_cast<std::uint32_t>(a)), "r"(std::bit_cast<std::int32_t>(b)), "r"(sum));
  return result;
}
#else
template <class Code>
PITWALL_DEVICE std::int32_t addProducts(std::int32_t sum, Four<Code> a, Four<std::int8_t> b) {
  for (int k = 0; k < 4; ++k) sum += a.x[k] * b.x[k];
  return sum;
}
#endif

// What becomes of a sum: out = activation(scale * (sum + bias) + addend_scale * addend).
struct ScaledSum {
  const float *scale, *bias;  // of each output channel
  NumbersIn addend;           // of nullptr: none
  double addend_scale;
  FusedActivation activation;  // none, relu or clip
  PITWALL_DEVICE double operator()(std::int64_t channel, double sum, double added) const {
    const double value = static_cast<double>(scale[channel]) * (sum + static_cast<double>(bias[channel])) +
                         addend_scale * added;
    if (activation.type == FusedActivation::Type::relu) return value > 0 ? value : 0;
    if (activation.type != FusedActivation::Type::clip) return value;
    const double least = static_cast<double>(activation.minimum),
                 most = static_cast<double>(activation.maximum);
    return value < least ? least : value > most ? most : value;
  }
  PITWALL_DEVICE double addedTo(std::int64_t i) const { return addend.at != nullptr ? addend[i] : 0; }
};

inline ScaledSum scaledSum(const KernelArgs& a, const FusedActivation& activation) {
  return {input(a, 2), input(a, 3), {nullptr, DType::float32}, 0, activation};
}

// Four channels of four neighbouring pixels, of images with channels last. Weights: WeightFours.
template <class Code, bool kWholeFours>  // of the channels of the data
struct ConvolveFours {
  static constexpr int kPixels = 4;
  using Weights = Four<Four<std::int8_t>>;  // of each output, those of its inputs

  ConvolutionPlace z;
  std::int64_t pixels;         // of all images of the output
  std::int64_t channel_fours;  // of the output
  const Code* data;
  const std::int8_t* weight;
  ScaledSum scaled;
  NumbersOut to;

  // Numbers 4 * i to 4 * i + 3 of a pixel; zeros after its last channel.
  PITWALL_DEVICE Four<Code> read(const Code* pixel, std::int64_t i) const {
    if constexpr (kWholeFours) {
      return reinterpret_cast<const Four<Code>*>(pixel)[i];
    } else {
      Four<Code> few{};
      for (int k = 0; k < 4; ++k)
        if (4 * i + k < z.channels) few.x[k] = pixel[4 * i + k];
      return few;
    }
  }

  // Where the window of an output pixel begins in the data.
  struct Corner {
    const Code* image;
    std::int64_t row, column;
  };
  PITWALL_DEVICE Corner corner(std::int64_t pixel, std::int64_t first_channel) const {
    const std::int64_t line = quotientOf(pixel, z.out[1]), image = quotientOf(line, z.out[0]);
    return {data + image * z.pixels() * z.channels + first_channel,
            z.source(0, remainderOf(line, z.out[0]), 0), z.source(1, remainderOf(pixel, z.out[1]), 0)};
  }
  // nullptr: outside of the image.
  PITWALL_DEVICE const Code* tapOf(const Corner& at, std::int64_t ky, std::int64_t kx) const {
    const std::int64_t row = at.row + ky * z.dilate[0], column = at.column + kx * z.dilate[1];
    if (row < 0 || row >= z.extent[0] || column < 0 || column >= z.extent[1]) return nullptr;
    return at.image + (row * z.extent[1] + column) * z.channels;
  }

  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t four = remainderOf(i, channel_fours), first = quotientOf(i, channel_fours) * kPixels;
    const std::int64_t fours_of_inputs = (z.groupIn() + 3) / 4;
    const std::int64_t first_channel = quotientOf(4 * four, z.groupOut()) * z.groupIn();
    Corner corners[kPixels];
    for (int p = 0; p < kPixels; ++p)
      corners[p] = corner(first + p < pixels ? first + p : pixels - 1, first_channel);
    std::int32_t sums[kPixels][4] = {};
    const Weights* weights = reinterpret_cast<const Weights*>(weight) + four;
    for (std::int64_t ky = 0; ky < z.kernel[0]; ++ky) {
      for (std::int64_t kx = 0; kx < z.kernel[1]; ++kx) {
        const Code* taps[kPixels];
        for (int p = 0; p < kPixels; ++p) taps[p] = tapOf(corners[p], ky, kx);
        for (std::int64_t k = 0; k < fours_of_inputs; ++k) {
          const Weights own = *weights;
          weights += channel_fours;
          for (int p = 0; p < kPixels; ++p) {
            const Four<Code> codes = taps[p] != nullptr ? read(taps[p], k) : Four<Code>{};
            for (int m = 0; m < 4; ++m) sums[p][m] = addProducts(sums[p][m], codes, own.x[m]);
          }
        }
      }
    }
    // Unrolled, so that the sums are in registers.
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int p = 0; p < kPixels; ++p)
      if (first + p < pixels) store(first + p, 4 * four, sums[p]);
  }

  PITWALL_DEVICE void store(std::int64_t pixel, std::int64_t channel, const std::int32_t (&sums)[4]) const {
    const std::int64_t at = pixel * z.out_channels + channel;
    if (z.out_channels % 4 != 0) {
      for (int m = 0; m < 4 && channel + m < z.out_channels; ++m)
        to.store(at + m, scaled(channel + m, sums[m], scaled.addedTo(at + m)));
      return;
    }
    Four<double> added{}, made;
    if (scaled.addend.at != nullptr) added = scaled.addend.four(at / 4);
    for (int m = 0; m < 4; ++m) made.x[m] = scaled(channel + m, sums[m], added.x[m]);
    to.storeFour(at / 4, made);
  }
};

template <class Code, class L>
void convolveFours(L& launch, const ConvolutionPlace& z, std::int64_t images, const KernelArgs& a,
                   const ScaledSum& scaled, const NumbersOut& to) {
  const auto* const data = static_cast<const Code*>(a.inputs[0]);
  const auto* const weight = static_cast<const std::int8_t*>(a.inputs[1]);
  const std::int64_t pixels = images * z.out[0] * z.out[1], channel_fours = (z.out_channels + 3) / 4;
  const auto put = [&](const auto& convolve) {
    launch.each(channel_fours * ((pixels + convolve.kPixels - 1) / convolve.kPixels), convolve);
  };
  if (z.channels % 4 == 0)
    put(ConvolveFours<Code, true>{z, pixels, channel_fours, data, weight, scaled, to});
  else
    put(ConvolveFours<Code, false>{z, pixels, channel_fours, data, weight, scaled, to});
}

// One output of any convolution, with channels last or row-major. Weights: row-major.
template <class Code>
struct ConvolveOne {
  ConvolutionPlace z;
  bool channels_last;
  const Code* data;
  const std::int8_t* weight;
  ScaledSum scaled;
  NumbersOut to;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t place = channels_last ? quotientOf(i, z.out_channels) : i;
    const std::int64_t x = remainderOf(place, z.out[1]), line = quotientOf(place, z.out[1]);
    const std::int64_t y = remainderOf(line, z.out[0]), above = quotientOf(line, z.out[0]);
    const std::int64_t m = remainderOf(channels_last ? i : above, z.out_channels),
                       n = channels_last ? above : quotientOf(above, z.out_channels);
    const std::int64_t first = quotientOf(m, z.groupOut()) * z.groupIn();
    const std::int64_t channel_step = channels_last ? 1 : z.pixels(), step = channels_last ? z.channels : 1;
    const Code* const image = data + n * z.channels * z.pixels() + first * channel_step;
    std::int32_t sum = 0;
    for (std::int64_t ky = 0; ky < z.kernel[0]; ++ky) {
      const std::int64_t row = z.source(0, y, ky);
      if (row < 0 || row >= z.extent[0]) continue;
      for (std::int64_t kx = 0; kx < z.kernel[1]; ++kx) {
        const std::int64_t column = z.source(1, x, kx);
        if (column < 0 || column >= z.extent[1]) continue;
        const Code* const pixel = image + (row * z.extent[1] + column) * step;
        const std::int8_t* const taps = weight + m * z.groupIn() * z.taps() + ky * z.kernel[1] + kx;
        for (std::int64_t c = 0; c < z.groupIn(); ++c) sum += pixel[c * channel_step] * taps[c * z.taps()];
      }
    }
    to.store(i, scaled(m, sum, scaled.addedTo(i)));
  }
};

template <class L>
GpuFunction make(const QuantizedConvolutionDesc& d, Pass, Signature& s) {
  const Window w = windowOf(s.inputs[0].shape, s.outputs[0].shape);
  const ConvolutionPlace z = convolutionPlace(d.convolution, w);
  const bool fours = isWeightFours(s.inputs[1].layout), adds = d.convolution.adds;
  const bool channels_last = isChannelsLast(s.inputs[0]) || isChannelsLast(s.outputs[0]);
  const DType addend = adds ? s.inputs[4].dtype : DType::float32;
  return [=, from = s.inputs[0].dtype, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    L launch(a.context);
    ScaledSum scaled = scaledSum(a, d.convolution.activation);
    if (adds) {
      scaled.addend = numbersIn(a, 4, addend);
      scaled.addend_scale = static_cast<double>(d.addend_scale);
    }
    const NumbersOut to = numbersOut(a, 0, d.output);
    const auto put = [&](auto code) {
      using Code = decltype(code);
      if (fours) return convolveFours<Code>(launch, z, w.batch, a, scaled, to);
      launch.each(n, ConvolveOne<Code>{z, channels_last, static_cast<const Code*>(a.inputs[0]),
                                       static_cast<const std::int8_t*>(a.inputs[1]), scaled, to});
    };
    from == DType::uint8 ? put(std::uint8_t{}) : put(std::int8_t{});
    return launch.status();
  };
}

// A product of a row of data with a row of weights, in words of four numbers.
template <class Code>
struct DenseOutput {
  std::int64_t units, words;
  const Four<Code>* data;
  const Four<std::int8_t>* weight;
  ScaledSum scaled;
  NumbersOut to;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t i) const {
    const Four<Code>* const row = data + quotientOf(i, units) * words;
    const Four<std::int8_t>* const own = weight + remainderOf(i, units) * words;
    const double sum =
        team.sum(words, [=](std::int64_t k) { return static_cast<double>(addProducts(0, row[k], own[k])); });
    if (team.isFirst()) to.store(i, scaled(remainderOf(i, units), sum, 0));
  }
};

template <class L>
GpuFunction make(const QuantizedFullyConnectedDesc& d, Pass, Signature& s) {
  const std::int64_t units = d.dense.units, features = s.inputs[1].shape[1];
  const std::int64_t rows = s.inputs[0].shape.elements() / features;
  // Each row is an image of one pixel.
  const ConvolutionPlace z{features, units, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  return [=, fours = isWeightFours(s.inputs[1].layout), from = s.inputs[0].dtype](const KernelArgs& a) {
    L launch(a.context);
    const ScaledSum scaled = scaledSum(a, d.dense.activation);
    const NumbersOut to = numbersOut(a, 0, d.output);
    const auto put = [&](auto code) {
      using Code = decltype(code);
      if (fours) return convolveFours<Code>(launch, z, rows, a, scaled, to);
      launch.rows(rows * units, features / 4,
                  DenseOutput<Code>{units, features / 4, static_cast<const Four<Code>*>(a.inputs[0]),
                                    static_cast<const Four<std::int8_t>*>(a.inputs[1]), scaled, to});
    };
    from == DType::uint8 ? put(std::uint8_t{}) : put(std::int8_t{});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
