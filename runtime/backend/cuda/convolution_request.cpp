#include "runtime/backend/cuda/convolution_request.h"

#include "runtime/backend/gpu_kernels/channels_last.h"

namespace pitwall::cuda {
namespace {

using Kind = ConvolutionProblem::Kind;
using Place = ConvolutionRequest::Place;

Extents extentsOf(const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], shape[3]};
  return {shape[0], shape[1], 1, shape[2]};
}

// The arguments of a pass, by their meaning for the operator.
struct Roles {
  Place data, weight, out;
};

Roles rolesOf(Pass pass) {
  if (pass == Pass::backwardData) return {.data = {true, 0}, .weight = {false, 1}, .out = {false, 0}};
  if (pass == Pass::backwardWeights) return {.data = {false, 0}, .weight = {true, 0}, .out = {false, 1}};
  return {.data = {false, 0}, .weight = {false, 1}, .out = {true, 0}};
}

Kind kindOf(Pass pass, bool is_transposed) {
  if (pass == Pass::backwardWeights) return Kind::weights;
  return (pass == Pass::backwardData) == is_transposed ? Kind::forward : Kind::data;
}

// What both operators have in common; `is_transposed`: Deconvolution.
template <class Desc>
ConvolutionRequest requestOf(const Desc& d, Pass pass, bool is_transposed, Signature& s) {
  const Roles roles = rolesOf(pass);
  ConvolutionRequest r;
  r.x = is_transposed ? roles.out : roles.data;
  r.w = roles.weight;
  r.y = is_transposed ? roles.data : roles.out;
  if (d.bias && pass == Pass::backwardWeights) r.bias_gradient = roles.out;
  if (d.bias && roles.out.is_output) r.bias = Place{false, 2};

  const auto specOf = [&s](const ConvolutionRequest::Argument& argument) -> TensorSpec& {
    return argument->is_output ? s.outputs[argument->index] : s.inputs[argument->index];
  };
  ConvolutionProblem& p = r.problem;
  p.kind = kindOf(pass, is_transposed);
  p.type = specOf(r.x).dtype;
  p.x = extentsOf(specOf(r.x).shape), p.w = extentsOf(specOf(r.w).shape), p.y = extentsOf(specOf(r.y).shape);
  p.stride = d.stride, p.pad = d.pad, p.dilate = d.dilate;
  p.channels_last = specOf(r.x).shape.rank() == 4;
  if (!p.channels_last) return r;
  for (const ConvolutionRequest::Argument& argument : {r.x, r.w, r.y}) {
    TensorSpec& spec = specOf(argument);
    spec.layout = gpu_kernels::channelsLast(spec.shape, spec.dtype);
  }
  return r;
}

}  // namespace

ConvolutionRequest ConvolutionRequest::of(const OperatorKindDesc& desc, Pass pass, Signature& s) {
  if (desc.is<DeconvolutionDesc>()) return requestOf(desc.as<DeconvolutionDesc>(), pass, true, s);
  const auto& d = desc.as<ConvolutionDesc>();
  ConvolutionRequest r = requestOf(d, pass, false, s);
  if (r.problem.kind != Kind::forward) return r;
  r.activation = d.activation;
  r.problem.bias = d.bias, r.problem.adds = d.adds;
  r.problem.relu = d.activation.type == FusedActivation::Type::relu;
  if (!d.adds) return r;
  r.addend = Place{false, s.inputs.size() - 1};
  if (r.problem.channels_last) s.inputs.back().layout = s.outputs[0].layout;
  return r;
}

}  // namespace pitwall::cuda
