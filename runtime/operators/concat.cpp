#include "runtime/operators/concat.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A copy computes nothing.
constexpr KernelOperator kConcat{
    .forward = "Concat", .backward = "_backward_Concat", .forward_flop = nullptr, .backward_flop = nullptr};

}  // namespace

constinit const OperatorKind ConcatDesc::kKind = OperatorKind::of<ConcatDesc>("Concat");

Result<Signature> ConcatDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  if (inputs < 1) return q.wrong(fmt::format("{} inputs: must be at least 1", inputs));
  const auto count = static_cast<std::size_t>(inputs);
  PITWALL_TRY(q.expectInputs(count + (q.isForward() ? 0 : 1)));
  const Shape& first = q.shape(0);
  const int at = PITWALL_TRY(q.axisOf(axis, first));
  std::int64_t extent = 0;
  std::vector<Shape> given;
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = q.shape(i);
    bool fits = shape.rank() == first.rank();
    for (int a = 0; fits && a < first.rank(); ++a) fits = a == at || shape[a] == first[a];
    if (!fits)
      return q.wrong(fmt::format("input {} is {}, input 0 {}: they may differ in axis {} alone", i,
                                 shape.toString(), first.toString(), at));
    extent += shape[at];
    given.push_back(shape);
  }
  Shape out;
  for (int a = 0; a < first.rank(); ++a) out.append(a == at ? extent : first[a]);
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(count, out, "dout"));
  return q.signature(given);
}

Result<NDArray> op::concat(std::span<const NDArray> arrays, int axis, const CallSite& site) {
  std::vector<NamedArray> named;
  for (const NDArray& array : arrays) named.push_back({"data", array});
  return callKernel(kConcat, ConcatDesc{axis, static_cast<int>(arrays.size())}, named, site);
}

}  // namespace pitwall
