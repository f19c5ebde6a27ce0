#include "runtime/operators/convolution.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/weighted.h"

namespace pitwall {
namespace {

// Multiplications and additions of a convolution between `out` and a weight O x I/groups x KH x KW, or O x I/groups x KW.
Flop convolutionProducts(const Shape& out, const Shape& weight) {
  return 2 * out.elements() * (weight.elements() / weight[0]);
}

constexpr WeightedNames kConvolutionNames{
    .forward = "Convolution",
    .backward = "_backward_Convolution",
    .forward_flop = [](const Prepared& p) -> Flop {
      const Shape& out = p.kernel->outputs()[0].shape;
      const auto& d = p.desc.as<ConvolutionDesc>();
      return convolutionProducts(out, p.at_hand[1].shape) + fusedFlop(out, d.bias, {d.adds, d.activation});
    },
    .backward_data_flop = [](const Prepared& p) -> Flop {
      return convolutionProducts(p.at_hand[0].shape, p.at_hand[1].shape);
    },
    .backward_weights_flop = [](const Prepared& p) -> Flop {
      const Shape& head = p.at_hand[1].shape;
      return convolutionProducts(head, p.kernel->outputs()[0].shape) +
             (p.kernel->outputs().size() > 1 ? head.elements() : 0);
    },
};

}  // namespace

constinit const OperatorKind ConvolutionDesc::kKind = OperatorKind::of<ConvolutionDesc>("Convolution");

Result<Signature> ConvolutionDesc::infer(const ShapeQuery& q) const {
  const Shape data = PITWALL_TRY(weightedData(q, bias, {adds, activation}));
  PITWALL_TRY(checkWindow(q, *this, data));
  const std::size_t first = firstOfWindow(data);
  if (dilate[0] < 1 || dilate[1] < 1) return q.wrong("dilate must be at least 1");
  if (first == 1 && dilate[0] != 1) return q.wrong("data has 3 axes: the first dilate must be 1");
  if (groups < 1 || channels < 1 || data[1] % groups != 0 || channels % groups != 0) {
    return q.wrong(fmt::format("{} groups must divide the channels of data ({}) and of the output ({})",
                               groups, data[1], channels));
  }
  Shape out{data[0], channels}, weight{channels, data[1] / groups};
  for (std::size_t i = first; i < 2; ++i) {
    const int axis = static_cast<int>(i) + data.rank() - 2;
    out.append(slidingExtent(data[axis], kernel[i], stride[i], pad[i], dilate[i]));
    weight.append(kernel[i]);
    if (out[axis] < 1)
      return q.wrong(fmt::format("a {}x{} window (pad {}x{}, dilate {}x{}) does not fit into {} data",
                                 kernel[0], kernel[1], pad[0], pad[1], dilate[0], dilate[1],
                                 data.toString()));
  }
  return weightedSignature(
      q, {.data = data, .out = out, .weight = weight, .bias = bias ? channels : 0, .adds = adds});
}

Result<NDArray> op::convolution(const NDArray& data, const WeightAndBias& trained,
                                const ConvolutionDesc& desc, const CallSite& site) {
  return weightedOperator(kConvolutionNames, data, trained, desc, site);
}

}  // namespace pitwall
