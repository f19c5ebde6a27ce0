// Memory of intermediate results, which programs may share that do not run at the same time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/session.h"

namespace pitwall::graph {

// A place for one block of a program. Operators that write the pool's `sequence` use `block`, and no others.
struct MemorySlot {
  const Bytes bytes;
  Block block;
};

class MemoryPool {
 public:
  MemoryPool(Session& session, Device device)
      : sequence(session.engine().newVariable()), session_(session), device_(device) {}
  ~MemoryPool();  // waits for the kernels that use it
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Places for blocks of these sizes, in their order, which the pool owns, no two the same. What other programs have got is
  // used again where it is large enough. New places have memory. Errors: io without memory.
  Result<std::vector<MemorySlot*>> take(const std::vector<Bytes>& sizes);

  // Called by operators that write `sequence`. fill() gives memory to the places that have none (errors: io), release() returns
  // that of all to the session's pool.
  Status fill(std::span<MemorySlot* const> slots);
  static void release(std::span<MemorySlot* const> slots);

  Bytes bytes() const;  // of all places

  const Variable sequence;  // written by every kernel that uses the memory: they run one after the other
  const void* last_user = nullptr;  // the program whose results it has

 private:
  Session& session_;
  const Device device_;
  std::vector<std::unique_ptr<MemorySlot>> slots_;
};

}  // namespace pitwall::graph
