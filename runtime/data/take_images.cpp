#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/data.h"

namespace pitwall::data {

Status takeImages(Batch& batch, NDArray& into) {
  const bool in_block = batch.block.size() != 0;
  const DType dtype = in_block ? batch.dtype : DType::float32;
  if (into.shape() != batch.image_shape || into.dtype() != dtype || into.device() != Device{})
    return fail(ErrorCode::invalidInput,
                fmt::format("a batch of {} of {} on cpu(0) does not fit into an array of {} of {} on {}",
                            batch.image_shape.toString(), toString(dtype), into.shape().toString(),
                            toString(into.dtype()), toString(into.device())));
  if (!in_block) return into.copyFrom(batch.images);
  into.takeBlock(std::move(batch.block));
  return {};
}

Result<NDArray> takeImages(Session& session, Batch& batch) {
  if (batch.block.size() == 0) return NDArray::fromValues(session, batch.image_shape, batch.images);
  NDArray array = NDArray::empty(session, batch.image_shape, MemoryTag::data, batch.dtype);
  PITWALL_TRY(takeImages(batch, array));
  return array;
}

}  // namespace pitwall::data
