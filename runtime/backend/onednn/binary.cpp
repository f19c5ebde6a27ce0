// A blocked array combined with one whose elements repeat; what cpu_kernels/ leaves. The blocked array keeps its layout.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

dnnl::algorithm algorithmOf(BinaryType type) {
  switch (type) {
    case BinaryType::add: return dnnl::algorithm::binary_add;
    case BinaryType::subtract: return dnnl::algorithm::binary_sub;
    case BinaryType::multiply: return dnnl::algorithm::binary_mul;
    case BinaryType::divide: return dnnl::algorithm::binary_div;
    case BinaryType::maximum: return dnnl::algorithm::binary_max;
    case BinaryType::minimum: return dnnl::algorithm::binary_min;
  }
  return dnnl::algorithm::undef;
}

// oneDNN's first array has the shape of the output.
bool mayExchange(BinaryType type) { return type != BinaryType::subtract && type != BinaryType::divide; }

KernelPtr rowMajorKernel(const BinaryDesc& desc, const Request& r) {
  std::vector<TensorSpec> inputs(r.inputs.begin(), r.inputs.end());
  for (TensorSpec& spec : inputs) spec.layout = nullptr;
  return cpu_kernels::makeKernel(desc, r.pass, inputs, r.signature, {});
}

}  // namespace

KernelPtr make(const BinaryDesc& desc, const Request& r) {
  const Shape& out = r.signature.outputs[0].shape;
  const std::size_t whole = r.inputs[0].shape == out ? 0 : 1, part = 1 - whole;
  if (whole == 1 && !mayExchange(desc.type)) return rowMajorKernel(desc, r);
  const Desc data = descOf(r.inputs[whole], dimsOf(out));
  Dims extents = dimsOf(r.inputs[part].shape);
  extents.insert(extents.begin(), static_cast<std::size_t>(out.rank()) - extents.size(), 1);
  const Desc repeated = rowMajor(extents);
  const dnnl::binary::primitive_desc pd({algorithmOf(desc.type), data, repeated, data}, userScratchpad(),
                                        r.engine, true);
  if (!pd) return rowMajorKernel(desc, r);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(whole, data);
  kernel->setOutput(0, data);
  kernel->addStep(dnnl::binary(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC_0, data, inputAt(whole)},
                   {DNNL_ARG_SRC_1, repeated, inputAt(part)},
                   {DNNL_ARG_DST, data, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
