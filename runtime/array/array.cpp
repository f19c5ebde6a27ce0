#include "runtime/array/array.h"

#include <utility>

#include "db/try.h"
#include "runtime/array/device_bytes.h"

namespace pitwall {
namespace {

thread_local BulkRegion* current_region = nullptr;

void deleteChunk(Chunk* chunk) {
  chunk->session->engine().deleteVariable(chunk->variable, [chunk](const RunContext&) {
    delete chunk;
    return Status();
  });
}

void releaseChunk(Chunk* chunk) {
  if (!BulkRegion::keepForLater(chunk)) deleteChunk(chunk);
}

}  // namespace

ChunkPtr makeChunk(Session& session, Device device, MemoryTag tag, DType dtype) {
  auto* chunk = new Chunk;
  chunk->session = &session;
  chunk->device = device;
  chunk->variable = session.engine().newVariable();
  chunk->tag = tag;
  chunk->dtype = dtype;
  return {chunk, releaseChunk};
}

NDArray makeArray(Value value) {
  auto impl = std::make_shared<NDArray::Impl>();
  impl->value = std::move(value);
  return NDArray(std::move(impl));
}

Result<Block> allocateFor(const Chunk& chunk, Bytes bytes) {
  Storage* storage = PITWALL_TRY(chunk.session->storage(chunk.device));
  return storage->allocate(bytes, chunk.tag);
}

Status ensureBlock(Chunk& chunk, Bytes bytes) {
  if (chunk.block.size() >= bytes) return {};
  if (chunk.device.kind == DeviceKind::gpu)
    PITWALL_TRY(freeAfterWork(*chunk.session, chunk.device, std::move(chunk.block)));
  chunk.block = {};
  chunk.block = PITWALL_TRY(allocateFor(chunk, bytes));
  return {};
}

BulkRegion::BulkRegion(Session& session, int size)
    : session_(session),
      size_(size),
      previous_size_(session.engine().setBulkSize(size)),
      outer_(std::exchange(current_region, this)) {}

BulkRegion::~BulkRegion() {
  session_.engine().setBulkSize(previous_size_);
  current_region = outer_;
  releaseAll();
}

void BulkRegion::countPush() {
  BulkRegion* region = current_region;
  if (region == nullptr || ++region->pushed_ < region->size_) return;
  region->pushed_ = 0;  // the engine has just flushed a full bulk: no bulk is cut short now
  region->releaseAll();
}

bool BulkRegion::keepForLater(Chunk* chunk) {
  if (current_region == nullptr || current_region->size_ <= 1) return false;
  current_region->dead_.push_back(chunk);
  return true;
}

void BulkRegion::releaseAll() {
  for (Chunk* chunk : dead_) deleteChunk(chunk);
  dead_.clear();
}

}  // namespace pitwall
