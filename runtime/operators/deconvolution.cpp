#include "runtime/operators/deconvolution.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/weighted.h"

namespace pitwall {
namespace {

// Multiplications and additions of each element of the data and a weight C x O/groups x KH x KW.
Flop deconvolutionProducts(const Shape& data, const Shape& weight) {
  return 2 * data.elements() * weight[1] * weight[2] * weight[3];
}

constexpr WeightedNames kDeconvolutionNames{
    .forward = "Deconvolution",
    .backward = "_backward_Deconvolution",
    .forward_flop = [](const Prepared& p) -> Flop {
      return deconvolutionProducts(p.at_hand[0].shape, p.at_hand[1].shape) +
             (p.at_hand.size() > 2 ? p.kernel->outputs()[0].shape.elements() : 0);
    },
    .backward_data_flop = [](const Prepared& p) -> Flop {
      return deconvolutionProducts(p.kernel->outputs()[0].shape, p.at_hand[1].shape);
    },
    .backward_weights_flop = [](const Prepared& p) -> Flop {
      return deconvolutionProducts(p.at_hand[0].shape, p.kernel->outputs()[0].shape) +
             (p.kernel->outputs().size() > 1 ? p.at_hand[1].shape.elements() : 0);
    },
};

}  // namespace

constinit const OperatorKind DeconvolutionDesc::kKind = OperatorKind::of<DeconvolutionDesc>("Deconvolution");

Result<Signature> DeconvolutionDesc::infer(const ShapeQuery& q) const {
  const Shape data = PITWALL_TRY(weightedData(q, bias));
  PITWALL_TRY(checkWindow(q, *this, data));
  if (dilate[0] < 1 || dilate[1] < 1) return q.wrong("dilate must be at least 1");
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (groups < 1 || channels < 1 || data[1] % groups != 0 || channels % groups != 0)
    return q.wrong(fmt::format("{} groups must divide the channels of data ({}) and of the output ({})",
                               groups, data[1], channels));
  Shape out{data[0], channels};
  for (std::size_t i = 0; i < 2; ++i) {
    if (adjust[i] < 0 || adjust[i] >= stride[i])
      return q.wrong(
          fmt::format("adjust {}: must be at least 0 and less than the stride {}", adjust[i], stride[i]));
    out.append(stride[i] * (data[static_cast<int>(i) + 2] - 1) + dilate[i] * (kernel[i] - 1) + 1 -
               2 * pad[i] + adjust[i]);
  }
  if (out[2] < 1 || out[3] < 1)
    return q.wrong(fmt::format("pad {}x{} leaves nothing of the output", pad[0], pad[1]));
  return weightedSignature(q, {.data = data,
                               .out = out,
                               .weight = {data[1], channels / groups, kernel[0], kernel[1]},
                               .bias = bias ? channels : 0});
}

Result<NDArray> op::deconvolution(const NDArray& data, const WeightAndBias& trained,
                                  const DeconvolutionDesc& desc, const CallSite& site) {
  return weightedOperator(kDeconvolutionNames, data, trained, desc, site);
}

}  // namespace pitwall
