// A storage's accounts as counters of the trace: a sample for each change, one track per used tag, and one
// for the pool's memory from the system. "memory live: weights" is that of cpu(0); of other devices
// "memory live: cpu/1 weights".
#pragma once

#include <array>
#include <atomic>

#include "runtime/memory.h"
#include "runtime/profiler.h"

namespace pitwall::session {

class MemoryCounters : public StorageObserver {
 public:
  MemoryCounters(Profiler& profiler, Device device);

  void usageChanged(const Storage& storage, MemoryTag tag) override;
  void reservedChanged(const Storage& storage) override;

  // Records the current values, for a recording that begins late.
  void sample(const Storage& storage);

 private:
  static constexpr auto kTags = static_cast<std::size_t>(MemoryTag::count);
  struct Account {
    SiteId site;
    std::atomic<Bytes> recorded{0};  // last
  };
  template <class Read>
  void record(Account& account, Read read);

  Profiler& profiler_;
  std::array<Account, kTags> tags_;
  Account reserved_;
};

}  // namespace pitwall::session
