// The operators that have kernels for GPUs.
#pragma once

#include "runtime/backend/gpu_kernels/launch.h"
#include "runtime/operators.h"

// Each with a make() of runtime/backend/gpu_kernels/.
// clang-format off
#define PITWALL_GPU_OPERATORS(X) \
  X(ActivationDesc) \
  X(AdamDesc) \
  X(AddNDesc) \
  X(BatchDotDesc) \
  X(BatchNormDesc) \
  X(BinaryDesc) \
  X(CastDesc) \
  X(ClipDesc) \
  X(ConcatDesc) \
  X(ConvolutionDesc) \
  X(DeconvolutionDesc) \
  X(DequantizeDesc) \
  X(DotDesc) \
  X(DropoutDesc) \
  X(EmbeddingDesc) \
  X(FullyConnectedDesc) \
  X(LayerNormDesc) \
  X(LinearDesc) \
  X(LrnDesc) \
  X(NagDesc) \
  X(NormalizedConvolutionDesc) \
  X(PointwiseDesc) \
  X(PoolingDesc) \
  X(QuantizeDesc) \
  X(QuantizedBatchNormDesc) \
  X(QuantizedBinaryDesc) \
  X(QuantizedConvolutionDesc) \
  X(QuantizedFullyConnectedDesc) \
  X(ReciprocalDesc) \
  X(ReduceDesc) \
  X(ReorderDesc) \
  X(RequantizeDesc) \
  X(RescaleDesc) \
  X(RnnDesc) \
  X(SgdDesc) \
  X(SliceAxisDesc) \
  X(SliceChannelDesc) \
  X(SoftmaxDesc) \
  X(SoftmaxCrossEntropyDesc) \
  X(SoftmaxOutputDesc) \
  X(TakeDesc) \
  X(TransposeDesc) \
  X(TwoBitCompressDesc) \
  X(TwoBitSumDesc)
// clang-format on
