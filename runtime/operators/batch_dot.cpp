#include "runtime/operators/batch_dot.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/matrix_product.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A product and a sum for each element of the output and each term.
Flop batchDotFlop(const Prepared& p) {
  const MatrixFactors f = p.desc.as<BatchDotDesc>().factors(p.at_hand[0].shape, p.at_hand[1].shape);
  return 2 * f.batch * f.m * f.k * f.n;
}
Flop batchDotGradientFlop(const Prepared& p) { return 2 * batchDotFlop(p); }

constexpr KernelOperator kBatchDot{.forward = "batch_dot",
                                   .backward = "_backward_batch_dot",
                                   .forward_flop = batchDotFlop,
                                   .backward_flop = batchDotGradientFlop};

}  // namespace

constinit const OperatorKind BatchDotDesc::kKind = OperatorKind::of<BatchDotDesc>("batch_dot");

MatrixFactors BatchDotDesc::factors(const Shape& a, const Shape& b) const {
  const int last = a.rank() - 1;
  const std::int64_t m = a[transpose_a ? last : last - 1], k = a[transpose_a ? last - 1 : last];
  return {a.elements() / (m * k), m, k, b[transpose_b ? last - 1 : last], transpose_a, transpose_b};
}

Result<Signature> BatchDotDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 2 : 3));
  const Shape &a = q.shape(0), &b = q.shape(1);
  if (a.rank() < 3 || a.rank() != b.rank())
    return q.wrong("a and b must have the same number of axes, at least 3 (batch x rows x columns)");
  const int last = a.rank() - 1;
  Shape out;
  for (int i = 0; i + 1 < last; ++i) {
    if (a[i] != b[i])
      return q.wrong(fmt::format("axis {} is {} in a and {} in b: the batch must be equal", i, a[i], b[i]));
    out.append(a[i]);
  }
  const std::int64_t inner = b[transpose_b ? last : last - 1];
  const MatrixFactors f = factors(a, b);
  if (f.k != inner)
    return q.wrong(fmt::format("the matrices of a have {} columns, those of b {} rows", f.k, inner));
  out.append(f.m);
  out.append(f.n);
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(2, out, "dout"));
  return q.signature({a, b});
}

Result<NDArray> op::batchDot(const NDArray& a, const NDArray& b, const BatchDotDesc& desc,
                             const CallSite& site) {
  return callKernel(kBatchDot, desc, {{"a", a}, {"b", b}}, site);
}

}  // namespace pitwall
