// Which operators have kernels for arrays of 16 bits.
#pragma once

#include <algorithm>
#include <span>

#include "runtime/operators.h"
#include "runtime/short_float.h"

namespace pitwall::gpu_kernels {

inline bool isMultiPrecision(const OperatorKindDesc& desc) {
  if (desc.is<SgdDesc>()) return desc.as<SgdDesc>().multi_precision;
  if (desc.is<NagDesc>()) return desc.as<NagDesc>().multi_precision;
  return desc.is<AdamDesc>() && desc.as<AdamDesc>().multi_precision;
}

// Of one type: that of the first array.
inline bool computes16Bits(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs) {
  if (desc.is<CastDesc>() || desc.is<ReorderDesc>()) return true;
  const DType type = inputs[0].dtype;
  const auto isOfType = [type](const TensorSpec& spec) { return spec.dtype == type; };
  // The gradient of the output; numbers of channels are float32.
  if (desc.is<BatchNormDesc>()) return is16Bits(type) && (pass != Pass::backward || isOfType(inputs[4]));
  // Its last input may be a workspace.
  if (desc.is<PoolingDesc>())
    return std::all_of(inputs.begin(), inputs.begin() + std::min<std::ptrdiff_t>(std::ssize(inputs), 3),
                       isOfType);
  // Of weights of 16 bits; the indices are float32.
  if (pass != Pass::backward && desc.is<EmbeddingDesc>())
    return type == DType::float32 && is16Bits(inputs[1].dtype);
  if (pass != Pass::backward && desc.is<TakeDesc>())
    return is16Bits(type) && inputs[1].dtype == DType::float32;
  if (!std::ranges::all_of(inputs, isOfType)) return false;
  if (desc.is<BinaryDesc>()) return inputs[0].shape == inputs[1].shape;
  return isMultiPrecision(desc) || desc.is<ActivationDesc>() || desc.is<AddNDesc>() || desc.is<ClipDesc>() ||
         desc.is<ConcatDesc>() || desc.is<DropoutDesc>() || desc.is<LayerNormDesc>() ||
         desc.is<LinearDesc>() || desc.is<PointwiseDesc>() || desc.is<ReciprocalDesc>() ||
         desc.is<SliceAxisDesc>() || desc.is<SliceChannelDesc>() || desc.is<SoftmaxDesc>() ||
         desc.is<TransposeDesc>();
}

}  // namespace pitwall::gpu_kernels
