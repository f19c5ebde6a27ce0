// How freed blocks are kept. A pool only determines sizes and keeps lists; it allocates no memory from the
// system and has no lock (the storage holds one around it).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/memory.h"

namespace pitwall::memory {

class Pool {
 public:
  virtual ~Pool() = default;

  // The rounded size of a request of `size` > 0 bytes.
  virtual Bytes capacityFor(Bytes size) const = 0;

  // A kept block of exactly this capacity, the most recent one; nullptr when there is none.
  virtual void* take(Bytes capacity);
  // Keeps a block. False: the pool does not keep it.
  virtual bool give(void* data, Bytes capacity);

  Bytes cachedBytes() const { return cached_bytes_; }

  struct Kept {
    void* data;
    Bytes capacity;
  };
  // Removes and returns all kept blocks.
  std::vector<Kept> takeAll();

 private:
  std::unordered_map<Bytes, std::vector<void*>> kept_;  // by capacity
  Bytes cached_bytes_ = 0;
};

std::unique_ptr<Pool> makePool(const StorageOptions& options);

}  // namespace pitwall::memory
