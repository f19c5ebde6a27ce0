// A blocked array combined with one whose elements repeat; what cpu_kernels/ leaves. The blocked array keeps its layout.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

// oneDNN's maximum and minimum are not used: of a number and NaN they give the number.
dnnl::algorithm algorithmOf(BinaryType type) {
  switch (type) {
    case BinaryType::add: return dnnl::algorithm::binary_add;
    case BinaryType::subtract: return dnnl::algorithm::binary_sub;
    case BinaryType::multiply: return dnnl::algorithm::binary_mul;
    case BinaryType::divide: return dnnl::algorithm::binary_div;
    case BinaryType::maximum:
    case BinaryType::minimum: break;
  }
  return dnnl::algorithm::undef;
}

// oneDNN's first array has the shape of the output.
bool mayExchange(BinaryType type) { return type != BinaryType::subtract && type != BinaryType::divide; }

// Its blocks are those of the whole array: oneDNN has no fast implementation for others.
Desc repeatedOf(const Shape& shape, const Desc& whole) {
  Dims extents = dimsOf(shape);
  extents.insert(extents.begin(), whole.dims().size() - extents.size(), 1);
  return arrangedAs(whole, extents);
}

// Blocks of channels alone, without padding, are in memory as row-major is.
bool isRowMajorInMemory(const Desc& desc, const Shape& shape) {
  const Dims extents = desc.dims();
  const bool pixels = extents.size() == 4 && (extents[2] > 1 || extents[3] > 1);
  return !pixels && static_cast<Bytes>(desc.get_size()) == shape.elements() * sizeOf(DType::float32);
}

KernelPtr rowMajorKernel(const BinaryDesc& desc, const Request& r) {
  std::vector<TensorSpec> inputs(r.inputs.begin(), r.inputs.end());
  for (TensorSpec& spec : inputs) spec.layout = nullptr;
  return cpu_kernels::makeKernel(desc, r.pass, inputs, r.signature, r.options);
}

}  // namespace

KernelPtr make(const BinaryDesc& desc, const Request& r) {
  const Shape& out = r.signature.outputs[0].shape;
  const std::size_t whole = r.inputs[0].shape == out ? 0 : 1, part = 1 - whole;
  const dnnl::algorithm algorithm = algorithmOf(desc.type);
  if (algorithm == dnnl::algorithm::undef || (whole == 1 && !mayExchange(desc.type)))
    return rowMajorKernel(desc, r);
  const Desc data = descOf(r.inputs[whole], dimsOf(out));
  const Desc repeated = repeatedOf(r.inputs[part].shape, data);
  const dnnl::binary::primitive_desc pd({algorithm, data, repeated, data}, userScratchpad(), r.engine, true);
  if (!pd) return rowMajorKernel(desc, r);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setInput(whole, data);
  const bool arranged = sameLayout(r.inputs[part].layout, layoutOf(repeated));
  if (arranged || !isRowMajorInMemory(repeated, r.inputs[part].shape)) kernel->setInput(part, repeated);
  kernel->setOutput(0, data);
  kernel->addStep(dnnl::binary(pd), pd.scratchpad_desc(),
                  {{DNNL_ARG_SRC_0, data, inputAt(whole)},
                   {DNNL_ARG_SRC_1, repeated, inputAt(part)},
                   {DNNL_ARG_DST, data, outputAt(0)}});
  return kernel;
}

}  // namespace pitwall::onednn
