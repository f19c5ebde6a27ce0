// Convolution. Data and outputs use the layout that oneDNN prefers, as do weights in the forward pass.
//
// The backward passes: the weight stays in the layout of the forward pass unless that forces a slower
// implementation. On AVX-512 it does for backwardData (which needs inputs and outputs exchanged); the reorder
// of a weight then costs less than 1 % of the pass, where the plain implementation takes over ten times as
// long.
#include "runtime/backend/onednn/convolution_choice.h"
#include "runtime/backend/onednn/convolution_problem.h"
#include "runtime/backend/onednn/openmp_limit.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

KernelPtr forward(const ConvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p =
      problemOf(d, r.inputs[0].shape, r.inputs[1].shape, r.signature.outputs[0].shape);
  const ChosenConvolution chosen = chooseConvolution(d, r, p);
  const ConvolutionForward& pd = chosen.primitive;
  const OpenMpLimit limit(chosen.threads);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setThreads(chosen.threads);
  kernel->setMeasured(chosen.seconds);
  kernel->setInput(0, pd.src_desc());
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pd.dst_desc());
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), inputAt(0)},
                                  {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                                  {DNNL_ARG_DST, pd.dst_desc(), outputAt(0)}};
  if (d.bias) arguments.push_back({DNNL_ARG_BIAS, pd.bias_desc(), inputAt(2)});
  if (d.adds) {
    // The primitive adds to what its output holds.
    const std::size_t addend = r.inputs.size() - 1;
    kernel->setInput(addend, pd.dst_desc());
    addReorder(*kernel, r.engine, pd.dst_desc(), inputAt(addend), pd.dst_desc(), outputAt(0));
    kernel->skipInPlace(addend, 0);
  }
  kernel->addStep(dnnl::convolution_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

KernelPtr backwardData(const ConvolutionDesc& d, const Request& r) {
  const ConvolutionProblem p = problemOf(d, r.like->shape, r.inputs[1].shape, r.inputs[0].shape);
  return dataGradient(r, p, descOf(r.inputs[1], p.weight));
}

KernelPtr backwardWeights(const ConvolutionDesc& d, const Request& r) {
  const Shape& shape = r.signature.outputs[0].shape;
  const ConvolutionProblem p = problemOf(d, r.inputs[0].shape, shape, r.inputs[1].shape);
  const ConvolutionForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const Desc wish = r.like != nullptr ? descOf(*r.like, p.weight) : hint.weights_desc();
  const ConvolutionBackwardWeights pd =
      preferGivenWeight(p.weight, wish, [&](const Desc& weight, bool allow_failure) {
        return backwardWeightsOf(r, p, hint, weight, allow_failure);
      });
  return weightGradient<dnnl::convolution_backward_weights>(r, pd, wish);
}

}  // namespace

KernelPtr make(const ConvolutionDesc& desc, const Request& request) {
  if (request.pass == Pass::backwardData) return backwardData(desc, request);
  if (request.pass == Pass::backwardWeights) return backwardWeights(desc, request);
  return forward(desc, request);
}

}  // namespace pitwall::onednn
