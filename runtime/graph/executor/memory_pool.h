// Memory of intermediate results, which programs may share that do not run at the same time.
#pragma once

#include <memory>
#include <vector>

#include "runtime/session.h"

namespace pitwall::graph {

class MemoryPool {
 public:
  MemoryPool(Session& session, Device device)
      : sequence(session.engine().newVariable()), session_(session), device_(device) {}
  ~MemoryPool();  // waits for the kernels that use it
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Memory for blocks of these sizes, in their order, no two at one place. What other programs have got is used again where
  // it is large enough. Errors: io without memory.
  Result<std::vector<void*>> take(const std::vector<Bytes>& sizes);

  Bytes bytes() const;

  const Variable sequence;  // written by every kernel that uses the memory: they run one after the other
  const void* last_user = nullptr;  // the program whose results it has

 private:
  Session& session_;
  const Device device_;
  std::vector<Block> blocks_;
};

}  // namespace pitwall::graph
