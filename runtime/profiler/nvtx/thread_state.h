// What a recorded thread keeps: its open ranges and a cache from message to site. Freed when the thread ends.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/profiler/nvtx/names.h"

namespace pitwall::nvtx {

struct OpenRange {
  const Domain* domain;
  Ticks started;  // 0: nothing was recorded then
  std::int64_t value;
  SiteId site;
  std::int32_t level;  // in its domain
};

struct CachedMessage {
  const Domain* domain = nullptr;
  const char* address = nullptr;  // where the program has it
  const char* text = nullptr;     // our copy
  SiteId site;
};

struct ThreadState {
  std::uint32_t generation = 0;
  std::vector<OpenRange> open;
  // By address, then by content; direct mapped.
  static constexpr std::size_t kEntries = 256;
  std::array<CachedMessage, kEntries> by_address;
  std::array<CachedMessage, kEntries> by_content;
};

// The calling thread's; nullptr when it has none yet. ensure makes one, and empties one of another
// generation. When the thread is ending there is none to be had: nullptr.
ThreadState* currentThreadState();
ThreadState* ensureThreadState(std::uint32_t generation);

// Called on each thread that has a state when it ends (the main thread: in exit()), while it can still
// record.
void setThreadEndHook(void (*hook)());

}  // namespace pitwall::nvtx
