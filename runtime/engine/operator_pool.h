// Memory of operators, recycled: after a warm-up, pushing allocates nothing.
//
// Pushing threads allocate operators and workers free them, so each thread keeps a cache of free ones and
// exchanges whole batches with the depot; a lock is taken once per batch.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/engine/operator_node.h"
#include "runtime/engine/spin.h"

namespace pitwall::engine {

inline constexpr std::uint32_t kFewAccesses = 4;
inline constexpr std::uint32_t kManyAccesses = 20;

// Free operators of one size, linked through next; batches through child.
class OperatorDepot {
 public:
  static constexpr std::uint32_t kBatch = 64;
  OperatorDepot();
  ~OperatorDepot();
  OperatorDepot(const OperatorDepot&) = delete;
  OperatorDepot& operator=(const OperatorDepot&) = delete;

  // kBatch free operators with space for `capacity` (kFewAccesses or kManyAccesses) accesses.
  Operator* takeBatch(std::uint32_t capacity);
  void giveBatch(Operator* batch, std::uint32_t capacity);

 private:
  struct Slab;
  Operator* carve(std::uint32_t capacity);

  SpinLock lock_;
  std::array<Operator*, 2> batches_ PITWALL_GUARDED_BY(lock_){};
  std::vector<std::unique_ptr<Slab>> slabs_ PITWALL_GUARDED_BY(lock_);
};

// One thread's free operators.
class OperatorCache {
 public:
  explicit OperatorCache(OperatorDepot& depot) : depot_(depot) {}

  // An operator with space for `accesses`; its other members as after construction.
  Operator& take(std::size_t accesses);
  // Precondition: its function is empty and nothing points to it.
  void give(Operator& op);

 private:
  struct Free {
    Operator* first = nullptr;
    Operator* full = nullptr;  // a whole batch, kept to avoid repeated exchanges with the depot
    std::uint32_t count = 0;
  };
  static std::size_t index(std::uint32_t capacity) { return capacity == kFewAccesses ? 0 : 1; }
  void refill(Free& free, std::uint32_t capacity);
  void spill(Free& free, std::uint32_t capacity);

  OperatorDepot& depot_;
  std::array<Free, 2> free_;
};

}  // namespace pitwall::engine
