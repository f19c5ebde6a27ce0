#include "runtime/backend/reference/convolution_loops.h"
#include "runtime/backend/reference/fused.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

void forward(const ConvolutionLoops& g, const KernelArgs& args) {
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

void backwardData(const ConvolutionLoops& g, const KernelArgs& args) {
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

void backwardWeights(const ConvolutionLoops& g, const KernelArgs& args) {
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
    const ConvolutionLoops g{desc, windowOf(s.outputs[0].shape, s.inputs[0].shape)};
    return [g](const KernelArgs& args) { return backwardData(g, args), Status{}; };
  }
  if (pass == Pass::backwardWeights) {
    const ConvolutionLoops g{desc, windowOf(s.inputs[0].shape, s.inputs[1].shape)};
    return [g](const KernelArgs& args) { return backwardWeights(g, args), Status{}; };
  }
  const ConvolutionLoops g{desc, windowOf(s.inputs[0].shape, s.outputs[0].shape)};
  return [g](const KernelArgs& args) { return forward(g, args), Status{}; };
}

}  // namespace pitwall::reference
