// The primitives of a convolution. A deconvolution is one whose data and output are exchanged.
#pragma once

#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

using ConvolutionForward = dnnl::convolution_forward::primitive_desc;
using ConvolutionBackwardData = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionBackwardWeights = dnnl::convolution_backward_weights::primitive_desc;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// One convolution's extents in oneDNN's form.
struct ConvolutionProblem {
  Dims data, weight, bias, out, strides, dilates, pad_low, pad_high;
  bool has_bias;

  Desc biasDesc() const { return has_bias ? rowMajor(bias) : Desc(); }
};

inline ConvolutionProblem problemOf(const ConvolutionDesc& d, const Shape& data, const Shape& weight,
                                    const Shape& out) {
  ConvolutionProblem p{.data = dimsOf(data),
                       .weight = dimsOf(weight),
                       .bias = {d.channels},
                       .out = dimsOf(out),
                       .strides = {},
                       .dilates = {},
                       .pad_low = {},
                       .pad_high = {},
                       .has_bias = d.bias};
  if (d.groups > 1) {
    p.weight[0] /= d.groups;
    p.weight.insert(p.weight.begin(), d.groups);
  }
  // oneDNN expects the far padding that the window actually covers: less than pad where the stride skips
  // some.
  for (std::size_t i = firstOfWindow(data); i < 2; ++i) {
    const int axis = static_cast<int>(i) + data.rank() - 2;
    const std::int64_t reach = d.dilate[i] * (d.kernel[i] - 1) + 1;
    p.strides.push_back(d.stride[i]);
    p.dilates.push_back(d.dilate[i] - 1);
    p.pad_low.push_back(d.pad[i]);
    p.pad_high.push_back((out[axis] - 1) * d.stride[i] + reach - data[axis] - d.pad[i]);
  }
  return p;
}

inline ConvolutionForward forwardOf(const Request& r, const ConvolutionProblem& p, dnnl::prop_kind kind,
                                    const dnnl::primitive_attr& attributes = userScratchpad()) {
  return {{kind, kDirect, anyLayout(p.data), anyLayout(p.weight), p.biasDesc(), anyLayout(p.out), p.strides,
           p.dilates, p.pad_low, p.pad_high},
          attributes,
          r.engine};
}

inline ConvolutionBackwardData backwardDataOf(const Request& r, const ConvolutionProblem& p,
                                              const ConvolutionForward& hint, const Desc& weight,
                                              bool allow_failure) {
  return {{kDirect, anyLayout(p.data), weight, anyLayout(p.out), p.strides, p.dilates, p.pad_low, p.pad_high},
          userScratchpad(),
          r.engine,
          hint,
          allow_failure};
}

inline ConvolutionBackwardWeights backwardWeightsOf(const Request& r, const ConvolutionProblem& p,
                                                    const ConvolutionForward& hint, const Desc& weight,
                                                    bool allow_failure) {
  return {{kDirect, anyLayout(p.data), weight, p.biasDesc(), anyLayout(p.out), p.strides, p.dilates,
           p.pad_low, p.pad_high},
          userScratchpad(),
          r.engine,
          hint,
          allow_failure};
}

// The gradient of the data: of r.inputs dout and weight, the only output.
inline std::shared_ptr<PrimitiveKernel> dataGradient(const Request& r, const ConvolutionProblem& p,
                                                     const Desc& given_weight) {
  const ConvolutionForward hint = forwardOf(r, p, dnnl::prop_kind::forward_training);
  const ConvolutionBackwardData pd =
      preferGivenWeight(p.weight, given_weight, [&](const Desc& weight, bool allow_failure) {
        return backwardDataOf(r, p, hint, weight, allow_failure);
      });
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.diff_dst_desc());
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pd.diff_src_desc());
  kernel->addStep(dnnl::convolution_backward_data(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), inputAt(0)},
                   {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                   {DNNL_ARG_DIFF_SRC, pd.diff_src_desc(), outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
