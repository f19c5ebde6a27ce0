// Memory of large arrays on huge pages where the system has some: copying a picture of 8 MB then needs 4 entries of the
// processor's table of pages instead of 2000.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace pitwall::gui {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{2} << 20;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* const memory = std::aligned_alloc(kPage, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    (void)madvise(memory, bytes, MADV_HUGEPAGE);  // only a wish
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  bool operator==(const LargePages&) const { return true; }
};

}  // namespace pitwall::gui
