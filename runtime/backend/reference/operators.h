// The reference operators: the simplest loops that define each operator, summing in double. Slow by design;
// every other backend is tested against them.
//
// Each function returns a function that computes one pass on row-major arrays of the signature's shapes.
#pragma once

#include "runtime/backend/support/function_kernel.h"

namespace pitwall::reference {

RunFunction convolution(const ConvolutionDesc& desc, Pass pass, const Signature& signature);
RunFunction fullyConnected(const FullyConnectedDesc& desc, Pass pass, const Signature& signature);
RunFunction pooling(const PoolingDesc& desc, Pass pass, const Signature& signature);
RunFunction activation(const ActivationDesc& desc, Pass pass, const Signature& signature);
RunFunction batchNorm(const BatchNormDesc& desc, Pass pass, const Signature& signature);
RunFunction dropout(const DropoutDesc& desc, Pass pass, const Signature& signature);
RunFunction binary(const BinaryDesc& desc, Pass pass, const Signature& signature);
RunFunction linear(const LinearDesc& desc, Pass pass, const Signature& signature);
RunFunction softmaxCrossEntropy(const SoftmaxCrossEntropyDesc& desc, Pass pass, const Signature& signature);
RunFunction sgd(const SgdDesc& desc, Pass pass, const Signature& signature);
RunFunction reorder(const ReorderDesc& desc, Pass pass, const Signature& signature);

}  // namespace pitwall::reference
