// The contents of an NDArray handle: a chunk (memory and the variable that orders its use) viewed with a
// shape.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/ndarray.h"

namespace pitwall {

namespace autograd {
struct Node;
}

// Memory of one array. The pushing thread reads and writes all members but `block`; `block` belongs to the
// operators that the engine orders by `variable`. Operators keep plain pointers to chunks: a chunk is deleted
// by the engine after the last operator that was pushed on its variable (see releaseChunk).
struct Chunk {
  Session* session = nullptr;
  Device device;
  Variable variable;
  MemoryTag tag = MemoryTag::other;
  DType dtype = DType::float32;
  LayoutPtr layout;     // of the contents after all that was pushed so far; null = row-major
  bool viewed = false;  // reshape() returned another shape: the contents must stay row-major
  Block block;
};
using ChunkPtr = std::shared_ptr<Chunk>;

ChunkPtr makeChunk(Session& session, Device device, MemoryTag tag, DType dtype);

// A chunk viewed with a shape. A Value without a chunk is "no array".
struct Value {
  ChunkPtr chunk;
  Shape shape;

  explicit operator bool() const { return chunk != nullptr; }
  Session& session() const { return *chunk->session; }
  Device device() const { return chunk->device; }
  TensorSpec spec() const { return {shape, chunk->dtype, chunk->layout}; }
};

struct NDArray::Impl {
  Value value;
  NDArray gradient;
  std::uint64_t gradient_stamp = 0;      // the backward() that wrote `gradient` last
  std::shared_ptr<autograd::Node> node;  // the recorded operator that computed this array
};

NDArray makeArray(Value value);
inline const Value& valueOf(const NDArray& array) { return array.impl()->value; }

// Memory on the chunk's device. Errors: those of Session::storage and Storage::allocate.
Result<Block> allocateFor(const Chunk& chunk, Bytes bytes);

// Ensures that `chunk.block` has at least `bytes` bytes; its contents are lost if it grows. In operators
// only.
Status ensureBlock(Chunk& chunk, Bytes bytes);

// Replaces the contents of `chunk` by `block` (row-major) after all previously pushed operators have run. A
// failed allocation becomes the array's error.
void replaceBlock(const Value& value, Result<Block> block, Phase phase);

// While one is alive on a thread, the operators that the thread pushes are bulked, and released arrays are
// kept until a bulk is full (deleting a variable would flush the bulk early).
class BulkRegion {
 public:
  BulkRegion(Session& session, int size);
  ~BulkRegion();
  BulkRegion(const BulkRegion&) = delete;
  BulkRegion& operator=(const BulkRegion&) = delete;

  static void countPush();             // called after each push of an operator
  static bool keepForLater(Chunk* c);  // false when no region is active on this thread

 private:
  void releaseAll();

  Session& session_;
  int size_;
  int previous_size_;
  int pushed_ = 0;
  BulkRegion* outer_;
  std::vector<Chunk*> dead_;
};

}  // namespace pitwall
