// Writing arrays from the host: fills and copies.
#include <algorithm>
#include <bit>
#include <utility>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/array/device_bytes.h"
#include "runtime/array/facts.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

// The number in 32 bits, twice where it has 16.
std::uint32_t wordOf(DType type, float number) {
  if (type == DType::float32) return std::bit_cast<std::uint32_t>(number);
  const std::uint32_t half =
      type == DType::float16 ? fromFloat<Float16>(number).bits : fromFloat<BFloat16>(number).bits;
  return half << 16 | half;
}

}  // namespace

void fillConstant(const Value& value, float number, const char* name, Phase phase) {
  Chunk* chunk = value.chunk.get();
  PITWALL_CHECK(isReal(chunk->dtype), "fill of %s", toString(chunk->dtype));
  if (number != 0) chunk->layout = nullptr;  // zeros are zeros in any layout, padding included
  const Bytes bytes = value.spec().sizeBytes();
  const OperatorId facts = value.session().profiler().operatorFacts(describeWrite(name, value, phase));
  auto run = [chunk, number, bytes](const RunContext&) -> Status {
    PITWALL_TRY(ensureBlock(*chunk, bytes));
    if (chunk->device.kind == DeviceKind::gpu)
      return fillOnStream(*chunk->session, chunk->device, chunk->block.data(), wordOf(chunk->dtype, number),
                          bytes);
    return withElementType(chunk->dtype, [&](auto element) -> Status {
      using E = decltype(element);
      std::fill_n(static_cast<E*>(chunk->block.data()), bytes / static_cast<Bytes>(sizeof(E)),
                  fromFloat<E>(number));
      return {};
    });
  };
  const Variable writes[] = {chunk->variable};
  value.session().engine().push(
      {.run = std::move(run), .writes = writes, .facts = facts, .device = chunk->device});
  BulkRegion::countPush();
}

void replaceBlock(const Value& value, Result<Block> block, Phase phase) {
  Chunk* chunk = value.chunk.get();
  chunk->layout = nullptr;
  const OperatorId facts = value.session().profiler().operatorFacts(describeWrite("_copyto", value, phase));
  auto incoming = std::make_unique<Result<Block>>(std::move(block));
  auto run = [chunk, incoming = std::move(incoming)](const RunContext&) -> Status {
    Block next = PITWALL_TRY(std::move(*incoming));
    if (chunk->device.kind == DeviceKind::gpu)
      PITWALL_TRY(freeAfterWork(*chunk->session, chunk->device, std::move(chunk->block)));
    chunk->block = std::move(next);
    return {};
  };
  const Variable writes[] = {chunk->variable};
  value.session().engine().push(
      {.run = std::move(run), .writes = writes, .facts = facts, .device = chunk->device});
  BulkRegion::countPush();
}

}  // namespace pitwall
