// State of a recorded thread: its open ranges and a cache from message to site. Freed when the thread ends.
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

// A text at an address of the program.
struct SeenAddress {
  const Domain* domain = nullptr;
  const char* address = nullptr;
  const char* text = nullptr;  // our copy; nullptr: the address has had several texts, so compare the content
  SiteId site;
};

// A text by the hash of its content. 64 bits identify the text.
struct SeenText {
  const Domain* domain = nullptr;
  std::uint64_t hash = 0;
  SiteId site;
};

struct ThreadState {
  std::uint32_t generation = 0;
  std::vector<OpenRange> open;
  // Direct mapped.
  static constexpr std::size_t kEntries = 256;
  std::array<SeenAddress, kEntries> by_address;
  std::array<SeenText, kEntries> by_content;
};

// Initial-exec: in a library that is loaded late this uses one word of the reserved static TLS space, and
// needs no call for access.
extern constinit thread_local ThreadState* t_state __attribute__((tls_model("initial-exec")));

// Creates the calling thread's state, or clears one of another generation. nullptr: the thread is ending.
ThreadState* makeThreadState(std::uint32_t generation);

inline ThreadState* threadState(std::uint32_t generation) {
  ThreadState* const state = t_state;
  if (state != nullptr && state->generation == generation) [[likely]]
    return state;
  return makeThreadState(generation);
}

// Called on each thread that has a state when it ends (the main thread: in exit()), while it can still
// record.
void setThreadEndHook(void (*hook)());

}  // namespace pitwall::nvtx
