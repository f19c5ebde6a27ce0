#include "runtime/ndarray.h"

#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/device_bytes.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

// `values` in a new block for the chunk, in its type.
Result<Block> copied(const Chunk& chunk, std::span<const float> values) {
  Result<Block> block = allocateFor(chunk, static_cast<Bytes>(values.size()) * sizeOf(chunk.dtype));
  if (!block.has_value() || values.empty()) return block;
  PITWALL_TRY(writeValues(*chunk.session, chunk.device, chunk.dtype, block->data(), values));
  return block;
}

void checkCount(const Shape& shape, std::span<const float> values) {
  PITWALL_CHECK(static_cast<std::int64_t>(values.size()) == shape.elements(), "%zu values for shape %s",
                values.size(), shape.toString().c_str());
}

}  // namespace

NDArray NDArray::empty(Session& session, Shape shape, MemoryTag tag, DType dtype, Device device) {
  return makeArray({makeChunk(session, device, tag, dtype), shape});
}

NDArray NDArray::zeros(Session& session, Shape shape, MemoryTag tag, Device device, DType dtype) {
  NDArray array = empty(session, shape, tag, dtype, device);
  fillConstant(valueOf(array), 0, "_zeros", Phase::none);
  return array;
}

NDArray NDArray::fromValues(Session& session, Shape shape, std::span<const float> values, MemoryTag tag,
                            Device device) {
  checkCount(shape, values);
  NDArray array = empty(session, shape, tag, DType::float32, device);
  Result<Block> block = copied(*valueOf(array).chunk, values);
  if (block.has_value())
    valueOf(array).chunk->block = std::move(block).value();  // not shared yet: no operator needed
  else
    replaceBlock(valueOf(array), std::move(block), Phase::data);
  return array;
}

Session& NDArray::session() const { return impl_->value.session(); }
const Shape& NDArray::shape() const { return impl_->value.shape; }
DType NDArray::dtype() const { return impl_->value.chunk->dtype; }

Device NDArray::device() const { return impl_->value.device(); }

Status NDArray::waitToRead() const {
  return session().engine().waitForVariable(impl_->value.chunk->variable);
}

Result<std::vector<float>> NDArray::toVector() const {
  if (!isReal(dtype()))
    return fail(ErrorCode::unsupported, std::string("toVector() of an array of ") + toString(dtype()) +
                                            ": only float32, float16 and bfloat16 can be read");
  Value rows = PITWALL_TRY(withLayout(nullptr, impl_->value, nullptr, Phase::none));
  PITWALL_TRY(session().engine().waitForVariable(rows.chunk->variable));
  const Block& block = rows.chunk->block;
  if (block.size() < shape().elements() * sizeOf(dtype()))
    return fail(ErrorCode::invalidInput,
                "toVector() of an array of shape " + shape().toString() + " that was never written");
  return readValues(session(), device(), dtype(), block.data(), shape().elements());
}

Status NDArray::copyFrom(std::span<const float> values) {
  checkCount(shape(), values);
  if (!isReal(dtype()))
    return fail(ErrorCode::unsupported, std::string("copyFrom() into an array of ") + toString(dtype()) +
                                            ": only float32, float16 and bfloat16 can be written");
  replaceBlock(impl_->value, copied(*impl_->value.chunk, values), Phase::data);
  return {};
}

void NDArray::takeBlock(Block block) {
  const Bytes bytes = shape().elements() * sizeOf(dtype());
  PITWALL_CHECK(block.size() >= bytes, "a block of %lld bytes for an array of %lld",
                static_cast<long long>(block.size()), static_cast<long long>(bytes));
  replaceBlock(impl_->value, std::move(block), Phase::data);
}

Result<NDArray> NDArray::reshape(Shape to) const {
  if (to.elements() != shape().elements())
    return fail(ErrorCode::invalidInput, "reshape: " + shape().toString() + " has " +
                                             std::to_string(shape().elements()) + " elements, " +
                                             to.toString() + " has " + std::to_string(to.elements()));
  Value rows = PITWALL_TRY(withLayout(nullptr, impl_->value, nullptr, Phase::none));
  rows.chunk->viewed = true;
  return makeArray({rows.chunk, to});
}

void NDArray::attachGradient() {
  if (!impl_->gradient) impl_->gradient = zeros(session(), shape(), MemoryTag::gradients, device(), dtype());
}

NDArray NDArray::gradient() const { return impl_->gradient; }

}  // namespace pitwall
