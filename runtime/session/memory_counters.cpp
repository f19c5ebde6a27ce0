#include "runtime/session/memory_counters.h"

#include <fmt/format.h>

namespace pitwall::session {

MemoryCounters::MemoryCounters(Profiler& profiler, Device device) : profiler_(profiler) {
  const std::string of = device == cpu(0) ? "" : traceName(device) + " ";
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    const auto name = fmt::format("memory live: {}{}|bytes", of, toString(static_cast<MemoryTag>(tag)));
    tags_[tag].site = profiler_.site(name, EventKind::scope);
  }
  reserved_.site =
      profiler_.site(fmt::format("memory reserved: {}|bytes", traceName(device)), EventKind::scope);
}

// Without a lock, a thread that changed the account meanwhile may have recorded before this one, so that an
// old value would be the last. Repeats until the recorded value is current.
template <class Read>
void MemoryCounters::record(Account& account, Read read) {
  Bytes bytes = 0;
  do {
    bytes = read();
    account.recorded.store(bytes, std::memory_order_relaxed);
    profiler_.counter(account.site, static_cast<double>(bytes));
  } while (read() != bytes);
}

void MemoryCounters::usageChanged(const Storage& storage, MemoryTag tag) {
  if (!profiler_.isRecording()) return;
  record(tags_[static_cast<std::size_t>(tag)], [&] { return storage.usage(tag).live_bytes; });
}

void MemoryCounters::reservedChanged(const Storage& storage) {
  if (profiler_.isRecording()) record(reserved_, [&] { return storage.reservedBytes(); });
}

void MemoryCounters::sample(const Storage& storage) {
  const bool recording = profiler_.isRecording();
  for (std::size_t i = 0; i < kTags; ++i) {
    if (!recording) tags_[i].recorded.store(0, std::memory_order_relaxed);
    const auto tag = static_cast<MemoryTag>(i);
    if (storage.usage(tag).live_bytes != tags_[i].recorded.load(std::memory_order_relaxed))
      usageChanged(storage, tag);
  }
  if (!recording) reserved_.recorded.store(0, std::memory_order_relaxed);
  if (storage.reservedBytes() != reserved_.recorded.load(std::memory_order_relaxed)) reservedChanged(storage);
}

}  // namespace pitwall::session
