// The operators that oneDNN computes, one file each. They throw dnnl::error; backend.cpp catches it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"

namespace pitwall::onednn {

KernelPtr convolution(const ConvolutionDesc& desc, const Request& request);
KernelPtr fullyConnected(const FullyConnectedDesc& desc, const Request& request);
KernelPtr pooling(const PoolingDesc& desc, const Request& request);
KernelPtr activation(const ActivationDesc& desc, const Request& request);
KernelPtr batchNorm(const BatchNormDesc& desc, const Request& request);
KernelPtr reorder(const ReorderDesc& desc, const Request& request);

// How good an implementation is by its name: 0 plain loops, 1 through a matrix product, 2 generated code.
int rankOf(std::string_view implementation);

// The primitive with the weight as given, when it is as good as the one that may choose; else the latter.
// make(weight desc, allow failure) makes either.
template <class Make>
auto preferGivenWeight(const Dims& weight, const Desc& given, Make make) {
  auto best = make(anyLayout(weight), false);
  auto fixed = make(given, true);
  return fixed && rankOf(fixed.impl_info_str()) >= rankOf(best.impl_info_str()) ? fixed : best;
}

// Adds a step that rearranges `from` into `to`. Both hold the same elements, maybe under other extents.
void addReorder(PrimitiveKernel& kernel, const dnnl::engine& engine, const Desc& from_desc, Place from,
                const Desc& to_desc, Place to);

}  // namespace pitwall::onednn
