// Records NVTX calls: push/pop ranges on the calling thread, ranges that start on one thread and end on any
// other, marks, names of threads. One per profiler; in a forked child there is a new one.
//
// Push and pop cost two readings of the clock and little more: the site of a name is found in the calling
// thread's cache, by the text's address and checked by its content, since the address may be that of a
// temporary.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler.h"
#include "runtime/profiler/nvtx/names.h"
#include "runtime/profiler/nvtx/payload.h"
#include "runtime/profiler/nvtx/thread_state.h"

namespace pitwall::nvtx {

// Meta key: pops without a push and ends without a start, as a decimal number; absent = none.
inline constexpr char kUnbalancedKey[] = "nvtx.unbalanced";

class Recorder : public EventSource {
 public:
  // Both outlive it.
  Recorder(Profiler& profiler, Names& names, Schemas& schemas);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Names& names() { return names_; }
  Schemas& schemas() { return schemas_; }
  bool isRecording() const { return profiler_.isRecording(); }

  // Nesting levels count per thread and domain, from 0; a pop without a push gives -1 and is counted.
  int push(Domain& domain, const char* text);
  int push(Domain& domain, const abi::EventAttributes& attributes);
  int push(Domain& domain, std::span<const abi::PayloadData> payload);
  int pop(Domain& domain);
  int pop(Domain& domain, std::span<const abi::PayloadData> payload);

  // Ends the calling thread's open ranges.
  void closeThread();

  void mark(Domain& domain, const char* text);
  void mark(Domain& domain, const abi::EventAttributes& attributes);
  void mark(Domain& domain, std::span<const abi::PayloadData> payload);

  // Never 0. end() of an unknown id, or of a range that has ended, is counted.
  std::uint64_t start(Domain& domain, const char* text);
  std::uint64_t start(Domain& domain, const abi::EventAttributes& attributes);
  std::uint64_t start(Domain& domain, std::span<const abi::PayloadData> payload);
  void end(std::uint64_t range);

  void nameThread(std::int64_t tid, std::string_view name);

  void drain(DrainContext& context) override;

 private:
  struct Found {
    SiteId site;
    std::int64_t value = 0;
  };
  // A range between start() and end().
  struct Free {
    SiteId site;
    std::int64_t value = 0;
    Ticks started = 0;  // 0: nothing was recorded then
    std::uint32_t row = 0;
  };
  static std::uint16_t rowOf(const Free& range) {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(range.row, 0xFFFF));
  }

  SiteId siteOf(Domain& domain, const char* text);
  [[gnu::noinline]] SiteId siteOfFirst(Domain& domain, const char* text);
  [[gnu::noinline]] SiteId siteAtAddress(SeenAddress& here);
  [[gnu::noinline]] SiteId siteOfContent(ThreadState& state, const Domain& domain, const char* text);
  [[gnu::noinline]] SiteId siteOfNew(ThreadState& state, const Domain& domain, const char* text);
  SiteId siteOf(Domain& domain, const RegisteredString& text);
  [[gnu::noinline]] SiteId siteOfNew(Domain& domain, const RegisteredString& text);
  Found find(Domain& domain, const abi::EventAttributes& attributes);
  [[gnu::noinline]] Found findWithAttributes(Domain& domain, const abi::EventAttributes& attributes);
  Found find(Domain& domain, std::span<const abi::PayloadData> payload);
  int popOuter(ThreadState* state, Domain& domain, std::span<const abi::PayloadData> payload);
  int open(Domain& domain, SiteId site, std::int64_t value);
  std::uint64_t begin(SiteId site, std::int64_t value);

  Profiler& profiler_;
  Names& names_;
  Schemas& schemas_;
  std::atomic<std::int64_t> unbalanced_{0};  // pops and ends without their beginning

  Mutex mutex_;
  std::unordered_map<std::uint64_t, Free> free_ PITWALL_GUARDED_BY(mutex_);
  std::vector<bool> rows_ PITWALL_GUARDED_BY(mutex_);  // taken by an open range
  profiler::Ring* ring_ PITWALL_GUARDED_BY(mutex_) =
      nullptr;  // of ranges that have ended; its scopes are the rows
  std::uint64_t next_range_ PITWALL_GUARDED_BY(mutex_) = 1;
};

}  // namespace pitwall::nvtx
