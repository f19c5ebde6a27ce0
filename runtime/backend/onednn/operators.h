// The operators that oneDNN computes: those that have a file of their name here. They throw dnnl::error; backend.cpp
// catches it.
#pragma once

#include "runtime/backend/onednn/primitive_kernel.h"
#include "runtime/operators.h"

namespace pitwall::onednn {

#define PITWALL_OPERATOR(Desc) KernelPtr make(const Desc& desc, const Request& request);
#include "runtime/backend/onednn/kernel_list.inc"  // generated
#undef PITWALL_OPERATOR

// Rank of an implementation by its name: 0 simple loops, 1 through a matrix product, 2 generated code.
int rankOf(std::string_view implementation);

// The primitive for the given weight layout, if its rank equals that of the primitive with a free choice of
// layout; else the latter. make(weight desc, allow failure) creates either.
template <class Make>
auto preferGivenWeight(const Dims& weight, const Desc& given, Make make) {
  auto best = make(anyLayout(weight), false);
  auto fixed = make(given, true);
  return fixed && rankOf(fixed.impl_info_str()) >= rankOf(best.impl_info_str()) ? fixed : best;
}

// Adds a step that rearranges `from` into `to`. Both hold the same elements, possibly with other extents.
void addReorder(PrimitiveKernel& kernel, const dnnl::engine& engine, const Desc& from_desc, Place from,
                const Desc& to_desc, Place to);

// Which inputs of a pass are the primitive's data and the gradient of its output.
struct WeightGradientInputs {
  std::size_t data = 0, dout = 1;
};

// The gradient of a weight, written in the layout `wish`; if the chosen implementation writes another one, a
// reorder follows. That of the bias, where the primitive has one, is output 1. Primitive is the one that `pd` describes; its other
// operands keep their layouts.
template <class Primitive, class PrimitiveDesc>
std::shared_ptr<PrimitiveKernel> weightGradient(const Request& r, const PrimitiveDesc& pd, const Desc& wish,
                                                const WeightGradientInputs& from = {}) {
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(from.data, pd.src_desc());
  kernel->setInput(from.dout, pd.diff_dst_desc());
  kernel->setOutput(0, wish);
  const bool direct = pd.diff_weights_desc() == wish;
  const Place dweight = direct ? outputAt(0) : kernel->addTemporary(pd.diff_weights_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(from.data)},
                                  {DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(from.dout)},
                                  {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc(), dweight}};
  if (pd.diff_bias_desc().get_size() != 0)
    arguments.push_back({DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc(), outputAt(1)});
  kernel->addStep(Primitive(pd), pd.scratchpad_desc(), std::move(arguments));
  if (!direct) addReorder(*kernel, r.engine, pd.diff_weights_desc(), dweight, wish, outputAt(0));
  return kernel;
}

}  // namespace pitwall::onednn
