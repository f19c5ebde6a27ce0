#include "runtime/ndarray.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/device_bytes.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

Result<Block> copiedBytes(const Chunk& chunk, const void* values, Bytes bytes) {
  Result<Block> block = allocateFor(chunk, bytes);
  if (!block.has_value() || bytes == 0) return block;
  PITWALL_TRY(writeBytes(*chunk.session, chunk.device, block->data(), values, bytes));
  return block;
}

// `values` in a new block for the chunk, in its type.
Result<Block> copied(const Chunk& chunk, std::span<const float> values) {
  const Bytes bytes = static_cast<Bytes>(values.size()) * sizeOf(chunk.dtype);
  if (chunk.dtype == DType::float32) return copiedBytes(chunk, values.data(), bytes);
  return withElementType(chunk.dtype, [&](auto element) {
    using E = decltype(element);
    std::vector<E> rounded(values.size());
    std::ranges::transform(values, rounded.begin(), [](float value) { return fromFloat<E>(value); });
    return copiedBytes(chunk, rounded.data(), bytes);
  });
}

// The first elements of an array of a real type.
Result<std::vector<float>> valuesAt(Session& session, Device device, DType type, const Block& block,
                                    std::size_t count) {
  return withElementType(type, [&](auto element) -> Result<std::vector<float>> {
    std::vector<decltype(element)> read(count);
    PITWALL_TRY(
        readBytes(session, device, read.data(), block.data(), static_cast<Bytes>(count * sizeof element)));
    if constexpr (std::is_same_v<decltype(element), float>) {
      return read;
    } else {
      std::vector<float> values(count);
      std::ranges::transform(read, values.begin(), [](auto value) { return toFloat(value); });
      return values;
    }
  });
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
  return valuesAt(session(), device(), dtype(), block, static_cast<std::size_t>(shape().elements()));
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
