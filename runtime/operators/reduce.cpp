#include "runtime/operators/reduce.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

Flop reduceFlop(const Prepared& p) { return p.at_hand[0].shape.elements(); }
Flop reduceGradientFlop(const Prepared& p) {
  return p.desc.as<ReduceDesc>().type == ReduceType::sum ? 0 : p.at_hand[0].shape.elements();
}

constexpr KernelOperator kReduce[] = {
    {"sum", "_backward_sum", reduceFlop, reduceGradientFlop, KernelOperator::kAll, 1},
    {"mean", "_backward_mean", reduceFlop, reduceGradientFlop, KernelOperator::kAll, 1},
    {"max", "_backward_max", reduceFlop, reduceGradientFlop, KernelOperator::kAll, 1},
    {"min", "_backward_min", reduceFlop, reduceGradientFlop, KernelOperator::kAll, 1},
};

bool isReduced(const ReduceDesc& d, int axis) { return d.axes == 0 || (d.axes >> axis & 1) != 0; }

}  // namespace

constinit const OperatorKind ReduceDesc::kKind = OperatorKind::of<ReduceDesc>("Reduce");

Shape ReduceDesc::kept(const Shape& data) const {
  Shape out;
  for (int i = 0; i < data.rank(); ++i) out.append(isReduced(*this, i) ? 1 : data[i]);
  return out;
}

Result<Signature> ReduceDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : 3));
  const Shape& data = q.shape(0);
  if (axes >> data.rank() != 0)
    return q.wrong(fmt::format("the axes {:#x} (a bit for each) are not all among the {} of the data", axes,
                               data.rank()));
  Shape out = kept(data);
  if (!keep_axes) {
    out = Shape();
    for (int i = 0; i < data.rank(); ++i) {
      if (!isReduced(*this, i)) out.append(data[i]);
    }
    if (out.rank() == 0) out.append(1);
  }
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(1, out, "out"));
  PITWALL_TRY(q.expectShape(2, out, "dout"));
  return q.signature({data});
}

Result<NDArray> op::reduce(const NDArray& data, const ReduceDesc& desc, const CallSite& site) {
  return callKernel(kReduce[static_cast<std::size_t>(desc.type)], desc, {{"data", data}}, site);
}

}  // namespace pitwall
