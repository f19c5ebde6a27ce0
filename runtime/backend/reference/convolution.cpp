#include "runtime/backend/reference/fused.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

struct ConvolutionGeometry {
  ConvolutionDesc desc;
  Window w;

  std::int64_t groupChannels() const { return w.channels / desc.groups; }

  std::int64_t data(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    return ((n * w.channels + c) * w.height + y) * w.width + x;
  }
  std::int64_t out(std::int64_t n, std::int64_t m, std::int64_t y, std::int64_t x) const {
    return ((n * w.out_channels + m) * w.out_height + y) * w.out_width + x;
  }
  std::int64_t weight(std::int64_t m, std::int64_t c, std::int64_t ky, std::int64_t kx) const {
    return ((m * groupChannels() + c) * desc.kernel[0] + ky) * desc.kernel[1] + kx;
  }

  // Calls visit(data index, weight index) for each product that contributes to out(n, m, oy, ox).
  template <class Visit>
  void products(std::int64_t n, std::int64_t m, std::int64_t oy, std::int64_t ox, Visit visit) const {
    const std::int64_t first_channel = m / (w.out_channels / desc.groups) * groupChannels();
    for (std::int64_t c = 0; c < groupChannels(); ++c) {
      for (std::int64_t ky = 0; ky < desc.kernel[0]; ++ky) {
        const std::int64_t y = oy * desc.stride[0] - desc.pad[0] + ky * desc.dilate[0];
        if (y < 0 || y >= w.height) continue;
        for (std::int64_t kx = 0; kx < desc.kernel[1]; ++kx) {
          const std::int64_t x = ox * desc.stride[1] - desc.pad[1] + kx * desc.dilate[1];
          if (x < 0 || x >= w.width) continue;
          visit(data(n, first_channel + c, y, x), weight(m, c, ky, kx));
        }
      }
    }
  }

  // Calls visit(n, m, y, x) for each output.
  template <class Visit>
  void outputs(Visit visit) const {
    for (std::int64_t n = 0; n < w.batch; ++n) {
      for (std::int64_t m = 0; m < w.out_channels; ++m) {
        for (std::int64_t y = 0; y < w.out_height; ++y) {
          for (std::int64_t x = 0; x < w.out_width; ++x) visit(n, m, y, x);
        }
      }
    }
  }
};

void forward(const ConvolutionGeometry& g, const KernelArgs& args) {
  const float *data = input(args, 0), *weight = input(args, 1);
  const float* bias = g.desc.bias ? input(args, 2) : nullptr;
  const float* addend = g.desc.adds ? input(args, args.inputs.size() - 1) : nullptr;
  float* out = output(args, 0);
  g.outputs([&](auto n, auto m, auto y, auto x) {
    double sum = bias != nullptr ? static_cast<double>(bias[m]) : 0.0;
    g.products(n, m, y, x,
               [&](auto i, auto k) { sum += static_cast<double>(data[i]) * static_cast<double>(weight[k]); });
    const std::int64_t at = g.out(n, m, y, x);
    if (addend != nullptr) sum += static_cast<double>(addend[at]);
    out[at] = static_cast<float>(activated(g.desc.activation, sum));
  });
}

void store(const std::vector<double>& sums, float* to) {
  for (std::size_t i = 0; i < sums.size(); ++i) to[i] = static_cast<float>(sums[i]);
}

void backwardData(const ConvolutionGeometry& g, const KernelArgs& args) {
  const float *dout = input(args, 0), *weight = input(args, 1);
  std::vector<double> ddata(static_cast<std::size_t>(g.data(g.w.batch, 0, 0, 0)));
  g.outputs([&](auto n, auto m, auto y, auto x) {
    const double d = static_cast<double>(dout[g.out(n, m, y, x)]);
    g.products(n, m, y, x, [&](auto i, auto k) {
      ddata[static_cast<std::size_t>(i)] += d * static_cast<double>(weight[k]);
    });
  });
  store(ddata, output(args, 0));
}

void backwardWeights(const ConvolutionGeometry& g, const KernelArgs& args) {
  const float *data = input(args, 0), *dout = input(args, 1);
  std::vector<double> dweight(static_cast<std::size_t>(g.weight(g.w.out_channels, 0, 0, 0)));
  std::vector<double> dbias(static_cast<std::size_t>(g.w.out_channels));
  g.outputs([&](auto n, auto m, auto y, auto x) {
    const double d = static_cast<double>(dout[g.out(n, m, y, x)]);
    dbias[static_cast<std::size_t>(m)] += d;
    g.products(n, m, y, x, [&](auto i, auto k) {
      dweight[static_cast<std::size_t>(k)] += d * static_cast<double>(data[i]);
    });
  });
  store(dweight, output(args, 0));
  if (g.desc.bias) store(dbias, output(args, 1));
}

}  // namespace

RunFunction make(const ConvolutionDesc& desc, Pass pass, Signature& s) {
  if (pass == Pass::backwardData) {
    const ConvolutionGeometry g{desc, windowOf(s.outputs[0].shape, s.inputs[0].shape)};
    return [g](const KernelArgs& args) { return backwardData(g, args), Status{}; };
  }
  if (pass == Pass::backwardWeights) {
    const ConvolutionGeometry g{desc, windowOf(s.inputs[0].shape, s.inputs[1].shape)};
    return [g](const KernelArgs& args) { return backwardWeights(g, args), Status{}; };
  }
  const ConvolutionGeometry g{desc, windowOf(s.inputs[0].shape, s.outputs[0].shape)};
  return [g](const KernelArgs& args) { return forward(g, args), Status{}; };
}

}  // namespace pitwall::reference
