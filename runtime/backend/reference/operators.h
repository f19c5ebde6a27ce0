// The reference operators: the simplest loops that define each operator, summing in double. Slow by design;
// every other backend is tested against them.
//
// One line per operator. Each function returns a function that computes one pass on row-major arrays of the
// signature's shapes.
#pragma once

#include "runtime/backend/support/function_kernel.h"

namespace pitwall::reference {

RunFunction make(const ConvolutionDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const FullyConnectedDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const PoolingDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const ActivationDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const LrnDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const BatchNormDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const DropoutDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const BinaryDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const LinearDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const SoftmaxCrossEntropyDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const SgdDesc& desc, Pass pass, const Signature& signature);
RunFunction make(const ReorderDesc& desc, Pass pass, const Signature& signature);

}  // namespace pitwall::reference
