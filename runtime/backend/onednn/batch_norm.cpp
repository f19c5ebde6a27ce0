// BatchNorm of inference, in any layout, which the result keeps. cpu_kernels/batch_norm.cpp has the training.
#include "runtime/backend/onednn/batch_norm.h"

#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {

BatchNormForward normOf(const BatchNormDesc& d, const Request& r, const Desc& data) {
  using Flags = dnnl::normalization_flags;
  Flags flags = Flags::use_shift | Flags::use_global_stats;
  if (!d.fix_gamma) flags |= Flags::use_scale;
  if (d.relu) flags |= Flags::fuse_norm_relu;
  return {{dnnl::prop_kind::forward_inference, data, d.epsilon, flags}, userScratchpad(), r.engine};
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

KernelPtr make(const BatchNormDesc& desc, const Request& r) {
  if (r.pass != Pass::inference) return nullptr;
  const BatchNormForward norm = normOf(desc, r, descOf(r.inputs[0], dimsOf(r.inputs[0].shape)));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, norm.impl_info_str());
  kernel->setInput(0, norm.src_desc());
  kernel->setOutput(0, norm.dst_desc());
  addNorm(*kernel, norm,
          {.data = inputAt(0),
           .gamma = inputAt(1),
           .beta = inputAt(2),
           .mean = inputAt(3),
           .variance = inputAt(4),
           .out = outputAt(0)});
  return kernel;
}

}  // namespace pitwall::onednn
