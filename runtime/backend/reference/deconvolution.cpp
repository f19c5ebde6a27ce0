#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

struct DeconvolutionGeometry {
  DeconvolutionDesc desc;
  Window w;

  // Calls visit(data index, weight index, output index) for each product.
  template <class Visit>
  void products(Visit visit) const {
    const std::int64_t group_out = w.out_channels / desc.groups, group_in = w.channels / desc.groups;
    for (std::int64_t n = 0; n < w.batch; ++n) {
      for (std::int64_t c = 0; c < w.channels; ++c) {
        for (std::int64_t m = 0; m < group_out; ++m) {
          const std::int64_t image = (n * w.channels + c) * w.height * w.width;
          const std::int64_t to =
              (n * w.out_channels + c / group_in * group_out + m) * w.out_height * w.out_width;
          pixels(image, (c * group_out + m) * desc.kernel[0] * desc.kernel[1], to, visit);
        }
      }
    }
  }

 private:
  template <class Visit>
  void pixels(std::int64_t image, std::int64_t window, std::int64_t to, Visit visit) const {
    for (std::int64_t y = 0; y < w.height; ++y) {
      for (std::int64_t x = 0; x < w.width; ++x) {
        for (std::int64_t k = 0; k < desc.kernel[0] * desc.kernel[1]; ++k) {
          const std::int64_t ky = k / desc.kernel[1], kx = k % desc.kernel[1];
          const std::int64_t oy = y * desc.stride[0] - desc.pad[0] + ky * desc.dilate[0];
          const std::int64_t ox = x * desc.stride[1] - desc.pad[1] + kx * desc.dilate[1];
          if (oy < 0 || oy >= w.out_height || ox < 0 || ox >= w.out_width) continue;
          visit(image + y * w.width + x, window + k, to + oy * w.out_width + ox);
        }
      }
    }
  }
};

void storeSums(const std::vector<double>& sums, float* to) {
  for (std::size_t i = 0; i < sums.size(); ++i) to[i] = static_cast<float>(sums[i]);
}

// Sums of the products of two arrays, at the third's index. kData, kWeight, kOut: the order that products() visits in.
enum Of : std::size_t { kData, kWeight, kOut };
std::vector<double> sumsOf(const DeconvolutionGeometry& g, Of target, std::int64_t elements, const float* x,
                           Of of_x, const float* y, Of of_y) {
  std::vector<double> sums(static_cast<std::size_t>(elements));
  g.products([&](std::int64_t data, std::int64_t weight, std::int64_t out) {
    const std::int64_t index[] = {data, weight, out};
    sums[static_cast<std::size_t>(index[target])] +=
        static_cast<double>(x[index[of_x]]) * static_cast<double>(y[index[of_y]]);
  });
  return sums;
}

// The channel of an element of the output.
std::int64_t channelOf(const Window& w, std::int64_t i) {
  return i / (w.out_height * w.out_width) % w.out_channels;
}

}  // namespace

RunFunction make(const DeconvolutionDesc& desc, Pass pass, Signature& s) {
  const std::int64_t elements = s.outputs[0].shape.elements();
  if (pass == Pass::backwardData) {
    const DeconvolutionGeometry g{desc, windowOf(s.outputs[0].shape, s.inputs[0].shape)};
    return [=](const KernelArgs& a) {
      storeSums(sumsOf(g, kData, elements, input(a, 0), kOut, input(a, 1), kWeight), output(a, 0));
      return Status{};
    };
  }
  if (pass == Pass::backwardWeights) {
    const DeconvolutionGeometry g{desc, windowOf(s.inputs[0].shape, s.inputs[1].shape)};
    return [=, outs = s.inputs[1].shape.elements()](const KernelArgs& a) {
      storeSums(sumsOf(g, kWeight, elements, input(a, 0), kData, input(a, 1), kOut), output(a, 0));
      if (!desc.bias) return Status{};
      std::vector<double> dbias(static_cast<std::size_t>(g.w.out_channels));
      for (std::int64_t i = 0; i < outs; ++i)
        dbias[static_cast<std::size_t>(channelOf(g.w, i))] += static_cast<double>(input(a, 1)[i]);
      storeSums(dbias, output(a, 1));
      return Status{};
    };
  }
  const DeconvolutionGeometry g{desc, windowOf(s.inputs[0].shape, s.outputs[0].shape)};
  return [=](const KernelArgs& a) {
    std::vector<double> sums = sumsOf(g, kOut, elements, input(a, 0), kData, input(a, 1), kWeight);
    for (std::int64_t i = 0; desc.bias && i < elements; ++i)
      sums[static_cast<std::size_t>(i)] += static_cast<double>(input(a, 2)[channelOf(g.w, i)]);
    storeSums(sums, output(a, 0));
    return Status{};
  };
}

}  // namespace pitwall::reference
