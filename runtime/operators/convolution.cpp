#include "runtime/operators/convolution.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/weighted.h"

namespace pitwall {
namespace {

// Multiplications and additions of a convolution between `out` and a weight O x I/groups x KH x KW.
Flop multiplyAdds(const Shape& out, const Shape& weight) {
  return 2 * out.elements() * weight[1] * weight[2] * weight[3];
}

constexpr WeightedNames kNames{
    .forward = "Convolution",
    .backward = "_backward_Convolution",
    .forward_flop = [](const Prepared& p) -> Flop {
      const Shape& out = p.kernel->outputs()[0].shape;
      const auto& d = p.desc.as<ConvolutionDesc>();
      return multiplyAdds(out, p.at_hand[1].shape) + fusedFlop(out, d.bias, {d.adds, d.activation});
    },
    .backward_data_flop = [](const Prepared& p) -> Flop {
      return multiplyAdds(p.at_hand[0].shape, p.at_hand[1].shape);
    },
    .backward_weights_flop = [](const Prepared& p) -> Flop {
      const Shape& head = p.at_hand[1].shape;
      return multiplyAdds(head, p.kernel->outputs()[0].shape) +
             (p.kernel->outputs().size() > 1 ? head.elements() : 0);
    },
};

}  // namespace

constinit const OperatorKind ConvolutionDesc::kKind = OperatorKind::of<ConvolutionDesc>("Convolution");

Result<Signature> ConvolutionDesc::infer(const ShapeQuery& q) const {
  const Shape data = PITWALL_TRY(weightedData(q, bias, {adds, activation}));
  PITWALL_TRY(checkWindow(q, *this));
  if (dilate[0] < 1 || dilate[1] < 1) return q.wrong("dilate must be at least 1");
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (groups < 1 || channels < 1 || data[1] % groups != 0 || channels % groups != 0) {
    return q.wrong(fmt::format("{} groups must divide the channels of data ({}) and of the output ({})",
                               groups, data[1], channels));
  }
  const std::int64_t height = slidingExtent(data[2], kernel[0], stride[0], pad[0], dilate[0]);
  const std::int64_t width = slidingExtent(data[3], kernel[1], stride[1], pad[1], dilate[1]);
  if (height < 1 || width < 1) {
    return q.wrong(fmt::format("a {}x{} window (pad {}x{}, dilate {}x{}) does not fit into {}x{} data",
                               kernel[0], kernel[1], pad[0], pad[1], dilate[0], dilate[1], data[2], data[3]));
  }
  return weightedSignature(q, {.data = data,
                               .out = {data[0], channels, height, width},
                               .weight = {channels, data[1] / groups, kernel[0], kernel[1]},
                               .bias = bias ? channels : 0,
                               .adds = adds});
}

Result<NDArray> op::convolution(const NDArray& data, const WeightAndBias& trained,
                                const ConvolutionDesc& desc, const CallSite& site) {
  return weightedOperator(kNames, data, trained, desc, site);
}

}  // namespace pitwall
