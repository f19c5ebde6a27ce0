// Batches produced ahead of time by prefetch threads.
//
// Batch k of an epoch goes through slot k modulo depth. A thread takes the lowest batch that is not in
// production yet, as soon as its slot is free; the caller takes slot after slot. So the order is that of the
// source for any number of threads, and at most `depth` batches exist besides the caller's.
#pragma once

#include <optional>
#include <thread>
#include <vector>

#include "db/mutex.h"
#include "runtime/data/recorded_source.h"

namespace pitwall::data {

class PrefetchIterator : public BatchIterator {
 public:
  PrefetchIterator(Profiler& profiler, std::unique_ptr<BatchSource> source, PrefetchOptions options);
  ~PrefetchIterator() override;  // waits for batches in production, not for later ones
  Result<bool> next(Batch& batch) override;
  void reset() override;  // waits for batches in production

 private:
  struct Slot {
    Batch batch;
    CorrelationId made = 0;
    std::optional<Error> error;
    bool ready = false;
  };

  void work(int thread);
  Slot& slotOf(std::int64_t index) PITWALL_REQUIRES(mutex_) {
    return slots_[static_cast<std::size_t>(index) % slots_.size()];
  }
  bool mayBegin() const PITWALL_REQUIRES(mutex_) {
    return begun_ < source_.batchesPerEpoch() && begun_ < taken_ + static_cast<std::int64_t>(slots_.size());
  }

  RecordedSource source_;  // synchronises itself
  const SiteId wait_site_;
  const SiteId ready_site_;

  Mutex mutex_;
  ConditionVariable room_;      // a batch may be started, or stopping
  ConditionVariable progress_;  // a batch became ready
  std::vector<Slot> slots_
      PITWALL_GUARDED_BY(mutex_);  // a slot's batch belongs to its thread until it is ready
  std::int64_t epoch_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::int64_t begun_ PITWALL_GUARDED_BY(mutex_) = 0;  // batches of this epoch that a thread has started
  std::int64_t taken_ PITWALL_GUARDED_BY(mutex_) = 0;  // batches of this epoch that the caller has received
  int in_work_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::int64_t ready_ PITWALL_GUARDED_BY(mutex_) = 0;
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace pitwall::data
