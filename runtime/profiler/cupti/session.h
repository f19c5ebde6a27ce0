// One use of CUPTI, from subscribing to unsubscribing: the recorded kinds of activity, the buffers, and their
// delivery to the profiler's drains.
//
// Threads: CUPTI requests buffers on the program's threads and returns them on its own; the drain thread
// turns them into events. One session at a time, as CUPTI's callbacks carry no context.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/profiler.h"
#include "runtime/profiler/cupti/buffers.h"
#include "runtime/profiler/cupti/collector.h"
#include "runtime/profiler/cupti/convert.h"
#include "runtime/profiler/cupti/kernel_counters.h"
#include "runtime/profiler/cupti/library.h"
#include "runtime/profiler/cupti/unified_memory.h"
#include "runtime/profiler/cupti/writer.h"

namespace pitwall::cupti {

class Session : public EventSource {
 public:
  // Both outlive it. Errors: unsupported, as sentences: another tool has subscribed; no GPU; other errors of
  // CUPTI.
  static Result<std::unique_ptr<Session>> open(const Library& library, Profiler& profiler,
                                               Extent extent = Extent::everything, BufferPlan plan = {});
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes CUPTI's remaining records and stops it; the next call of CUDA then removes CUPTI from the process. The
  // records go to the profiler's next drain, so the source stays registered. For a program that goes on.
  void close() noexcept;

  // If no call of CUDA has come since close(): CUPTI stays in the process and gets its subscriber back.
  void cancelRemoval() noexcept;

  // For the end of the process, while CUPTI still works: takes CUPTI's remaining records into the recording. CUPTI
  // stays attached, may call back to the end, and is not called again, as its library is finalised soon.
  void finish() noexcept;

  // As finish(), when the library may have been finalised: the remaining records are lost.
  void abandon() noexcept;

  void drain(DrainContext& context) override;

  // What was not recorded, so far: sentences. After finish() or close().
  const std::vector<std::string>& notes() const { return notes_; }
  void clearNotes() { notes_.clear(); }

 private:
  Session(const Library& library, Profiler& profiler, Extent extent, const BufferPlan& plan);
  Status begin();
  Status enable();
  void recordWorkInstead();
  void narrow();
  void flush(bool is_last);
  void flushAtEnd();
  void addNotes();
  void addCounted(Activities& activities);
  void readBuffer(const Buffers::Filled& buffer, Activities& into);
  void describeDevices(Activities& activities);

  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                       std::size_t valid);
  static void onCall(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

  const Library& library_;
  Profiler& profiler_;
  const Extent extent_;
  Buffers buffers_;
  UnifiedMemory unified_memory_;
  KernelCounters counters_;
  std::atomic<bool> records_work_instead_{false};  // of counting it
  std::atomic<bool> uses_managed_memory_{false};
  std::vector<std::string> notes_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<CUpti_ActivityKind> enabled_;
  std::atomic<std::int64_t> dropped_{0};  // records, as CUPTI counts them
  enum class Phase : std::uint8_t { recording, closed, finished };
  std::atomic<Phase> phase_{Phase::recording};
  enum class Removal : std::uint8_t { none, atNextCall, running, done };
  std::atomic<Removal> removal_{Removal::none};

  // Used only by the drain.
  std::chrono::steady_clock::time_point next_flush_ = {};
  Ticks recording_ = 0;
  std::unique_ptr<ActivityWriter> writer_;
  std::int64_t refused_told_ = 0;
  Names names_;
  Activities activities_;  // of one drain
  Activities devices_;     // reported when CUPTI begins; every recording needs them
};

}  // namespace pitwall::cupti
