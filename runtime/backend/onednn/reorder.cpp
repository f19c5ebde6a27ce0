#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

using Reorder = dnnl::reorder::primitive_desc;

Reorder reorderOf(const dnnl::engine& engine, const Desc& from, const Desc& to) {
  return {engine, from, engine, to, userScratchpad()};
}

void addDirect(PrimitiveKernel& kernel, const Reorder& pd, Place from, Place to) {
  kernel.addStep(dnnl::reorder(pd), pd.scratchpad_desc(),
                 {{DNNL_ARG_FROM, pd.src_desc(), from}, {DNNL_ARG_TO, pd.dst_desc(), to}});
}

// The extents of the array in oneDNN.
Dims viewOf(const LayoutPtr& layout, const Dims& otherwise) {
  const auto* known = dynamic_cast<const DnnlLayout*>(layout.get());
  return known != nullptr ? known->desc().dims() : otherwise;
}

}  // namespace

void addReorder(PrimitiveKernel& kernel, const dnnl::engine& engine, const Desc& from_desc, Place from,
                const Desc& to_desc, Place to) {
  if (from_desc.dims() == to_desc.dims()) {
    addDirect(kernel, reorderOf(engine, from_desc, to_desc), from, to);
    return;
  }
  // Two views of one row-major array: reorder to row-major first, then from it.
  const Desc plain_from = rowMajor(from_desc.dims(), from_desc.data_type()),
             plain_to = rowMajor(to_desc.dims(), to_desc.data_type());
  const Place between = kernel.addTemporary(plain_from);
  addDirect(kernel, reorderOf(engine, from_desc, plain_from), from, between);
  addDirect(kernel, reorderOf(engine, plain_to, to_desc), between, to);
}

KernelPtr make(const ReorderDesc& desc, const Request& r) {
  const TensorSpec& data = r.inputs[0];
  const Dims shape = dimsOf(data.shape);
  // A row-major side uses the view of the other side.
  const Dims from_view = viewOf(data.layout, viewOf(desc.output_layout, shape));
  const Dims to_view = viewOf(desc.output_layout, from_view);
  const Desc from = descOf(data, from_view);
  const Desc to = descOf({data.shape, data.dtype, desc.output_layout}, to_view);
  const Desc first =
      from_view == to_view ? to : rowMajor(from_view, typeOf(data.dtype));  // of the one or two steps
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature,
                                                  reorderOf(r.engine, from, first).impl_info_str());
  kernel->setInput(0, from);
  kernel->setOutput(0, to);
  addReorder(*kernel, r.engine, from, inputAt(0), to, outputAt(0));
  return kernel;
}

}  // namespace pitwall::onednn
