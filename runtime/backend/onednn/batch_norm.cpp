// BatchNorm accepts data in any layout and keeps it. The running statistics are updated here.
#include "runtime/backend/onednn/batch_norm.h"

#include <cstring>

#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using BatchNormBackward = dnnl::batch_normalization_backward::primitive_desc;
using Flags = dnnl::normalization_flags;

Flags flagsOf(const BatchNormDesc& d, bool inference) {
  Flags flags = Flags::use_shift;
  if (!d.fix_gamma) flags |= Flags::use_scale;
  if (inference || d.use_global_stats) flags |= Flags::use_global_stats;
  if (inference && d.relu) flags |= Flags::fuse_norm_relu;
  return flags;
}

// r = momentum * r + (1 - momentum) * batch, for mean and variance
void blendRunning(const KernelArgs& args, std::int64_t channels, float momentum) {
  for (std::size_t which = 0; which < 2; ++which) {
    const auto* batch = static_cast<const float*>(args.outputs[1 + which]);
    auto* running = static_cast<float*>(args.outputs[3 + which]);
    for (std::int64_t c = 0; c < channels; ++c) {
      running[c] = momentum * running[c] + (1 - momentum) * batch[c];
    }
  }
}

// The running statistics, which normalised, are those of the gradient.
void saveRunning(const KernelArgs& args, std::int64_t channels) {
  const auto bytes = static_cast<std::size_t>(channels) * sizeof(float);
  std::memcpy(args.outputs[1], args.outputs[3], bytes);
  std::memcpy(args.outputs[2], args.outputs[4], bytes);
}

KernelPtr forward(const BatchNormDesc& d, const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  const BatchNormForward pd = normOf(d, r, descOf(r.inputs[0], dimsOf(shape)));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, pd.src_desc());
  kernel->setOutput(0, pd.dst_desc());
  const bool inference = r.pass == Pass::inference;
  const std::size_t first = d.use_global_stats ? 3 : 1;  // of the statistics' outputs
  addNorm(*kernel, pd,
          {.data = inputAt(0),
           .gamma = inputAt(1),
           .beta = inputAt(2),
           .mean = inference ? inputAt(3) : outputAt(first),
           .variance = inference ? inputAt(4) : outputAt(first + 1),
           .out = outputAt(0)});
  if (inference) return kernel;
  kernel->setEpilogue(
      [count = shape[1], momentum = d.momentum, global = d.use_global_stats](const KernelArgs& args) {
        global ? saveRunning(args, count) : blendRunning(args, count, momentum);
      });
  return kernel;
}

KernelPtr backward(const BatchNormDesc& d, const Request& r) {
  const Shape& shape = r.inputs[0].shape;
  const Desc data = descOf(r.inputs[0], dimsOf(shape)), channels = rowMajor({shape[1]});
  const BatchNormForward hint = normOf(d, r, data);
  const BatchNormBackward pd({dnnl::prop_kind::backward, data, data, d.epsilon, flagsOf(d, false)},
                             userScratchpad(), r.engine, hint);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(0, data);
  kernel->setInput(4, data);
  kernel->setOutput(0, data);
  // The shift does not matter to the gradient, but oneDNN 2 requires one: any array of that size works.
  std::vector<Argument> arguments{{DNNL_ARG_SRC, data, inputAt(0)},
                                  {DNNL_ARG_SHIFT, channels, inputAt(1)},
                                  {DNNL_ARG_MEAN, channels, inputAt(2)},
                                  {DNNL_ARG_VARIANCE, channels, inputAt(3)},
                                  {DNNL_ARG_DIFF_DST, data, inputAt(4)},
                                  {DNNL_ARG_DIFF_SRC, data, outputAt(0)},
                                  {DNNL_ARG_DIFF_SHIFT, channels, outputAt(2)}};
  if (!d.fix_gamma) {
    arguments.push_back({DNNL_ARG_SCALE, channels, inputAt(1)});
    arguments.push_back({DNNL_ARG_DIFF_SCALE, channels, outputAt(1)});
  } else {
    kernel->setEpilogue([bytes = static_cast<std::size_t>(shape[1]) * sizeof(float)](const KernelArgs& args) {
      std::memset(args.outputs[1], 0, bytes);
    });
  }
  kernel->addStep(dnnl::batch_normalization_backward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

}  // namespace

BatchNormForward normOf(const BatchNormDesc& d, const Request& r, const Desc& data) {
  const bool inference = r.pass == Pass::inference;
  const auto kind = inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  return {{kind, data, d.epsilon, flagsOf(d, inference)}, userScratchpad(), r.engine};
}

void addNorm(PrimitiveKernel& kernel, const BatchNormForward& norm, const NormPlaces& p) {
  const Desc channels = rowMajor({norm.src_desc().dims()[1]});
  // A primitive without a scale does not read gamma.
  kernel.addStep(dnnl::batch_normalization_forward(norm), norm.scratchpad_desc(),
                 {{DNNL_ARG_SRC, norm.src_desc(), p.data},
                  {DNNL_ARG_SCALE, channels, p.gamma},
                  {DNNL_ARG_SHIFT, channels, p.beta},
                  {DNNL_ARG_MEAN, channels, p.mean},
                  {DNNL_ARG_VARIANCE, channels, p.variance},
                  {DNNL_ARG_DST, norm.dst_desc(), p.out}});
}

KernelPtr make(const BatchNormDesc& desc, const Request& request) {
  if (desc.relu && request.pass != Pass::inference) return nullptr;  // it would keep a mask for the gradient
  return request.pass == Pass::backward ? backward(desc, request) : forward(desc, request);
}

}  // namespace pitwall::onednn
