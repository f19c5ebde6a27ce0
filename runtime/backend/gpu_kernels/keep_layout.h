// Which operators compute arrays with channels last as they are.
#pragma once

#include <algorithm>
#include <span>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/weight_fours.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators.h"
#include "runtime/short_float.h"

namespace pitwall::gpu_kernels {

// The operators that compute each element by itself.
inline bool isElementwise(const OperatorKindDesc& desc) {
  return desc.is<ActivationDesc>() || desc.is<AddNDesc>() || desc.is<BinaryDesc>() || desc.is<CastDesc>() ||
         desc.is<ClipDesc>() || desc.is<DropoutDesc>() || desc.is<LinearDesc>() || desc.is<PointwiseDesc>() ||
         desc.is<ReciprocalDesc>() || desc.is<SgdDesc>() || desc.is<NagDesc>() || desc.is<AdamDesc>();
}

namespace detail {

// All arrays of an update of weights: the i-th of the gradients, weights and states share a layout.
inline void keepLayoutsOfUpdate(std::span<const TensorSpec> inputs, Signature& s) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    s.inputs[i].layout = inputs[i].layout;
    for (std::size_t o = i; o < s.outputs.size(); o += inputs.size())
      s.outputs[o].layout = layoutOfType(inputs[i].layout, s.outputs[o].dtype);
  }
}

inline bool haveOneShape(const std::vector<TensorSpec>& specs, const Shape& shape) {
  return std::all_of(specs.begin(), specs.end(), [&](const TensorSpec& s) { return s.shape == shape; });
}

inline void useChannelsLast(std::vector<TensorSpec>& specs) {
  for (TensorSpec& spec : specs) spec.layout = channelsLast(spec.shape, spec.dtype);
}

inline void useWeightFours(TensorSpec& weight) {
  weight.layout = std::make_shared<WeightFours>(weight.shape, weight.dtype);
}

}  // namespace detail

// The operators on 8-bit numbers that compute each element by itself, from numbers of an array or a channel too.
inline bool isQuantizedElementwise(const OperatorKindDesc& desc) {
  return desc.is<QuantizeDesc>() || desc.is<DequantizeDesc>() || desc.is<RequantizeDesc>() ||
         desc.is<RescaleDesc>() || desc.is<QuantizedBinaryDesc>() || desc.is<QuantizedBatchNormDesc>();
}

// Sets the layouts of a row-major signature: those in which make() of the operator computes arrays that come with the
// layouts of `inputs`. All others stay row-major, and arrays are reordered.
inline void keepLayout(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                       Signature& s) {
  if (desc.is<SgdDesc>() || desc.is<NagDesc>() || desc.is<AdamDesc>())
    return detail::keepLayoutsOfUpdate(inputs, s);
  if (isElementwise(desc)) {
    const Shape shape = s.outputs[0].shape;
    if (std::none_of(inputs.begin(), inputs.end(), isChannelsLast)) return;
    if (!detail::haveOneShape(s.inputs, shape) || !detail::haveOneShape(s.outputs, shape)) return;
    detail::useChannelsLast(s.inputs);
    detail::useChannelsLast(s.outputs);
  } else if (isQuantizedElementwise(desc)) {
    if (std::none_of(inputs.begin(), inputs.end(), isChannelsLast)) return;
    detail::useChannelsLast(s.inputs);
    detail::useChannelsLast(s.outputs);
  } else if (desc.is<QuantizedConvolutionDesc>()) {
    // Threads read four channels of a pixel at once, or neighbouring threads neighbouring channels.
    const bool fours = usesWeightFours(desc.as<QuantizedConvolutionDesc>().convolution, inputs[0].shape);
    detail::useChannelsLast(s.inputs);
    detail::useChannelsLast(s.outputs);
    s.inputs[1].layout = nullptr;
    if (fours) detail::useWeightFours(s.inputs[1]);
  } else if (desc.is<QuantizedFullyConnectedDesc>()) {
    if (usesWeightFours(inputs[0].shape, inputs[1].shape)) detail::useWeightFours(s.inputs[1]);
  } else if (desc.is<PoolingDesc>() || desc.is<BatchNormDesc>()) {
    // The data decides in both passes: the windows' numbers in the workspace follow its order.
    if (!isChannelsLast(inputs[0])) return;
    detail::useChannelsLast(s.inputs);
    detail::useChannelsLast(s.outputs);
  } else if (desc.is<ConcatDesc>()) {
    const bool backward = pass == Pass::backward;
    const std::span<const TensorSpec> whole = backward ? inputs.last(1) : inputs;
    if (desc.as<ConcatDesc>().axis != 1 || std::none_of(whole.begin(), whole.end(), isChannelsLast)) return;
    detail::useChannelsLast(s.inputs);
    detail::useChannelsLast(s.outputs);
  } else if (desc.is<NormalizedConvolutionDesc>()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) s.inputs[i].layout = inputs[i].layout;
  } else if (desc.is<ReorderDesc>()) {
    s.inputs[0].layout = inputs[0].layout;
    s.outputs[0].layout = desc.as<ReorderDesc>().output_layout;
  }
}

}  // namespace pitwall::gpu_kernels
