// How freed blocks are kept. A pool only decides sizes and keeps lists; it takes no memory from the system
// and has no lock (the storage holds one around it).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/memory.h"

namespace pitwall::memory {

class Pool {
 public:
  virtual ~Pool() = default;

  // What a request of `size` > 0 bytes is rounded up to.
  virtual Bytes capacityFor(Bytes size) const = 0;

  // A kept block of exactly this capacity, the last one given; nullptr when there is none.
  virtual void* take(Bytes capacity);
  // Keeps a block. False: the pool does not want it.
  virtual bool give(void* data, Bytes capacity);

  Bytes cachedBytes() const { return cached_bytes_; }

  struct Kept {
    void* data;
    Bytes capacity;
  };
  // Hands over all that is kept.
  std::vector<Kept> takeAll();

 private:
  std::unordered_map<Bytes, std::vector<void*>> kept_;  // by capacity
  Bytes cached_bytes_ = 0;
};

std::unique_ptr<Pool> makePool(const StorageOptions& options);

}  // namespace pitwall::memory
