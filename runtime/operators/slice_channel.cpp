#include "runtime/operators/slice_channel.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {

constinit const OperatorKind SliceChannelDesc::kKind = OperatorKind::of<SliceChannelDesc>("SliceChannel");

Result<Signature> SliceChannelDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  if (outputs < 1) return q.wrong(fmt::format("{} outputs: must be at least 1", outputs));
  const auto count = static_cast<std::size_t>(outputs);
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : count));
  const Shape& given = q.shape(0);
  if (q.isForward()) {
    const int at = PITWALL_TRY(q.axisOf(axis, given));
    if (given[at] % outputs != 0 || (squeeze && given[at] != outputs))
      return q.wrong(fmt::format("{} {}outputs do not divide axis {} of {}", outputs,
                                 squeeze ? "squeezed " : "", at, given.toString()));
    Shape part;
    for (int i = 0; i < given.rank(); ++i) {
      if (i != at || !squeeze) part.append(i == at ? given[i] / outputs : given[i]);
    }
    return q.signature(std::vector(count, part));
  }
  for (std::size_t i = 1; i < count; ++i) PITWALL_TRY(q.expectShape(i, given, "dout"));
  const int rank = given.rank() + (squeeze ? 1 : 0), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank || rank > Shape::kMaxRank)
    return q.wrong(fmt::format("there is no axis {} in {} axes, or they are too many", axis, rank));
  Shape data;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = squeeze && i == at ? 1 : given[squeeze && i > at ? i - 1 : i];
    data.append(i == at ? extent * outputs : extent);
  }
  return q.signature({data});
}

}  // namespace pitwall
