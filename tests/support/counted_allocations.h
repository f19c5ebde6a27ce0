// Counts what the whole program allocates with new. Included by one file of a program; not with a sanitizer, which replaces the
// allocator too.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace pitwall::test {

inline std::atomic<std::int64_t>& allocationCounter() {
  static constinit std::atomic<std::int64_t> counter{0};
  return counter;
}

inline std::int64_t countedAllocations() { return allocationCounter(); }

inline void* countedAllocation(std::size_t bytes, std::size_t alignment) {
  allocationCounter().fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace pitwall::test

void* operator new(std::size_t bytes) {
  return pitwall::test::countedAllocation(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return pitwall::test::countedAllocation(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
