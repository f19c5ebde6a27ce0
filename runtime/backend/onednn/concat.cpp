// Concat takes the layout of a blocked input for all, if no input but the last has padding on the axis: then the parts are
// copied as they are. Else all arrays are row-major.
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

struct Problem {
  std::size_t axis, count;
  std::vector<Dims> parts;
};

Problem problemOf(const ConcatDesc& d, const Request& r) {
  const int rank = r.inputs[0].shape.rank();
  Problem p{
      static_cast<std::size_t>(d.axis < 0 ? d.axis + rank : d.axis), static_cast<std::size_t>(d.inputs), {}};
  for (std::size_t i = 0; i < p.count; ++i) p.parts.push_back(dimsOf(r.inputs[i].shape));
  return p;
}

struct Arrangement {
  std::vector<Desc> parts;
  Desc whole;
};

// All in the arrangement of `like`, or row-major.
Arrangement arrange(const Problem& p, const Desc& like, const Dims& whole) {
  Arrangement a{{}, arrangedAs(like, whole)};
  bool fits = true;
  for (std::size_t i = 0; i < p.count; ++i) {
    a.parts.push_back(arrangedAs(like, p.parts[i]));
    fits = fits && (i + 1 == p.count || a.parts[i].data.padded_dims[p.axis] == p.parts[i][p.axis]);
  }
  if (fits) return a;
  a = {{}, rowMajor(whole)};
  for (const Dims& dims : p.parts) a.parts.push_back(rowMajor(dims));
  return a;
}

KernelPtr forward(const Problem& p, const Request& r) {
  std::size_t leader = 0;  // the first that is not row-major
  while (leader + 1 < p.count && r.inputs[leader].layout == nullptr) ++leader;
  const auto [parts, whole] =
      arrange(p, descOf(r.inputs[leader], p.parts[leader]), dimsOf(r.signature.outputs[0].shape));
  const dnnl::concat::primitive_desc pd(whole, static_cast<int>(p.axis), parts, r.engine, userScratchpad());
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  std::vector<Argument> arguments{{DNNL_ARG_DST, whole, outputAt(0)}};
  for (std::size_t i = 0; i < p.count; ++i) {
    kernel->setInput(i, parts[i]);
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), parts[i], inputAt(i)});
  }
  kernel->setOutput(0, whole);
  kernel->addStep(dnnl::concat(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

// Copies each part of the gradient.
KernelPtr backward(const Problem& p, const Request& r) {
  const TensorSpec& dout = r.inputs[p.count];
  const Dims extents = dimsOf(dout.shape);
  const auto [parts, whole] = arrange(p, descOf(dout, extents), extents);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, "reorder");
  Dims begin(extents.size(), 0);
  for (std::size_t i = 0; i < p.count; ++i) {
    kernel->keepInput(i, r.inputs[i]);
    kernel->setOutput(i, parts[i]);
    addReorder(*kernel, r.engine, whole.submemory_desc(p.parts[i], begin), inputAt(p.count), parts[i],
               outputAt(i));
    begin[p.axis] += p.parts[i][p.axis];
  }
  kernel->setInput(p.count, whole);
  return kernel;
}

}  // namespace

KernelPtr make(const ConcatDesc& desc, const Request& request) {
  const Problem problem = problemOf(desc, request);
  return request.pass == Pass::backward ? backward(problem, request) : forward(problem, request);
}

}  // namespace pitwall::onednn
