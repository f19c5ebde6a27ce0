#include "runtime/operators/dot.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/matrix_product.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A product and a sum for each element of the output and each term.
Flop dotFlop(const Prepared& p) {
  const MatrixFactors f = p.desc.as<DotDesc>().factors(p.at_hand[0].shape, p.at_hand[1].shape);
  return 2 * f.m * f.k * f.n;
}
Flop dotGradientFlop(const Prepared& p) { return 2 * dotFlop(p); }

constexpr KernelOperator kDot{
    .forward = "dot", .backward = "_backward_dot", .forward_flop = dotFlop, .backward_flop = dotGradientFlop};

}  // namespace

constinit const OperatorKind DotDesc::kKind = OperatorKind::of<DotDesc>("dot");

MatrixFactors DotDesc::factors(const Shape& a, const Shape& b) const {
  const std::int64_t k = transpose_a ? a[0] : a[a.rank() - 1];
  return {1, a.elements() / k, k, b.elements() / k, transpose_a, transpose_b};
}

Result<Signature> DotDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 2 : 3));
  const Shape &a = q.shape(0), &b = q.shape(1);
  if (a.rank() < 1 || b.rank() < 1) return q.wrong("a and b must have at least 1 axis");
  const int summed_a = transpose_a ? 0 : a.rank() - 1, summed_b = transpose_b ? b.rank() - 1 : 0;
  if (a[summed_a] != b[summed_b])
    return q.wrong(fmt::format("axis {} of a has {} elements, axis {} of b {}: they must be equal", summed_a,
                               a[summed_a], summed_b, b[summed_b]));
  if (a.rank() + b.rank() - 2 > Shape::kMaxRank)
    return q.wrong(fmt::format("the output would have {} axes, at most {} are possible",
                               a.rank() + b.rank() - 2, Shape::kMaxRank));
  Shape out;
  for (int i = 0; i < a.rank(); ++i) {
    if (i != summed_a) out.append(a[i]);
  }
  for (int i = 0; i < b.rank(); ++i) {
    if (i != summed_b) out.append(b[i]);
  }
  if (out.rank() == 0) out.append(1);
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(2, out, "dout"));
  return q.signature({a, b});
}

Result<NDArray> op::dot(const NDArray& a, const NDArray& b, const DotDesc& desc, const CallSite& site) {
  return callKernel(kDot, desc, {{"a", a}, {"b", b}}, site);
}

}  // namespace pitwall
