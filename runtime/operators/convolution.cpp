#include "runtime/operators/weighted.h"

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
      return multiplyAdds(out, p.at_hand[1].shape) + (p.at_hand.size() > 2 ? out.elements() : 0);
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

Result<NDArray> op::convolution(const NDArray& data, const WeightAndBias& trained,
                                const ConvolutionDesc& desc, const CallSite& site) {
  return weightedOperator(kNames, data, trained, desc, site);
}

}  // namespace pitwall
