#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/data.h"

namespace pitwall::data {

Status takeImages(Batch& batch, NDArray& into) {
  const bool in_block = batch.block.size() != 0;
  const DType dtype = in_block ? batch.dtype : DType::float32;
  const Device device = in_block ? batch.device : Device{};
  if (into.shape() != batch.image_shape || into.dtype() != dtype || into.device() != device)
    return fail(ErrorCode::invalidInput,
                fmt::format("a batch of {} of {} on {} does not fit into an array of {} of {} on {}",
                            batch.image_shape.toString(), toString(dtype), toString(device),
                            into.shape().toString(), toString(into.dtype()), toString(into.device())));
  if (!in_block) return into.copyFrom(batch.images);
  into.takeBlock(std::move(batch.block));
  return {};
}

Result<NDArray> takeImages(Session& session, Batch& batch) {
  if (batch.block.size() == 0) return NDArray::fromValues(session, batch.image_shape, batch.images);
  NDArray array = NDArray::empty(session, batch.image_shape, MemoryTag::data, batch.dtype, batch.device);
  PITWALL_TRY(takeImages(batch, array));
  return array;
}

}  // namespace pitwall::data
