#include "runtime/operators/embedding.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

constexpr KernelOperator kEmbedding{
    .forward = "Embedding",
    .backward = "_backward_Embedding",
    .forward_flop = nullptr,  // a copy computes nothing
    .backward_flop = [](const Prepared& p) -> Flop { return p.at_hand[1].shape.elements(); },
    .reads_inputs = 1,
    .first_gradient = 1};

}  // namespace

constinit const OperatorKind EmbeddingDesc::kKind = OperatorKind::of<EmbeddingDesc>("Embedding");

Result<Signature> EmbeddingDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(2));
  if (vocabulary < 1 || width < 1)
    return q.wrong(fmt::format("vocabulary {} and width {} must be at least 1", vocabulary, width));
  Shape out = q.shape(0);
  if (out.rank() >= Shape::kMaxRank)
    return q.wrong(
        fmt::format("indices have {} axes, at most {} are possible", out.rank(), Shape::kMaxRank - 1));
  out.append(width);
  const Shape weight{vocabulary, width};
  if (!q.isForward()) {
    PITWALL_TRY(q.expectShape(1, out, "dout"));
    return q.signature({weight});
  }
  PITWALL_TRY(q.expectShape(1, weight, "weight"));
  return q.signature({out});
}

Result<NDArray> op::embedding(const NDArray& indices, const NDArray& weight, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Embedding", {{"indices", indices}, {"weight", weight}}));
  const Shape& rows = weight.shape();
  if (rows.rank() != 2)
    return fail(ErrorCode::invalidInput,
                fmt::format("Embedding: weight {} must have 2 axes (vocabulary x width)", rows.toString()));
  return callKernel(kEmbedding, EmbeddingDesc{rows[0], rows[1]}, {{"indices", indices}, {"weight", weight}},
                    site);
}

}  // namespace pitwall
