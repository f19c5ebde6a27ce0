#include "runtime/data/prefetch_iterator.h"

#include <string>
#include <utility>

namespace pitwall::data {

PrefetchIterator::PrefetchIterator(Profiler& profiler, std::unique_ptr<BatchSource> source,
                                   PrefetchOptions options)
    : source_(profiler, std::move(source)),
      wait_site_(profiler.site("next batch", EventKind::dataWait)),
      ready_site_(profiler.site("batches ready|batches", EventKind::scope)),
      slots_(static_cast<std::size_t>(options.depth)) {
  for (int i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this, i] { work(i); });
  }
}

PrefetchIterator::~PrefetchIterator() {
  {
    const ScopedLock lock(mutex_);
    stopping_ = true;
  }
  room_.notifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void PrefetchIterator::work(int thread) {
  source_.profiler().nameThread("prefetch " + std::to_string(thread));
  const ScopedLock lock(mutex_);
  for (;;) {
    while (!stopping_ && !mayBegin()) room_.wait(mutex_);
    if (stopping_) return;
    const std::int64_t index = begun_++;
    const std::int64_t epoch = epoch_;
    Slot& slot = slotOf(index);
    ++in_work_;
    CorrelationId made = 0;
    Status status;
    {
      const ScopedUnlock unlocked(mutex_);
      status = source_.make(epoch, index, slot.batch, made);
    }
    slot.made = made;
    if (!status.has_value()) slot.error = status.error();
    slot.ready = true;
    ++ready_;
    --in_work_;
    progress_.notifyAll();
  }
}

Result<bool> PrefetchIterator::next(Batch& batch) {
  std::optional<RecordedWait> wait;
  CorrelationId made = 0;
  std::optional<Error> error;
  {
    const ScopedLock lock(mutex_);
    if (taken_ == source_.batchesPerEpoch()) return false;
    wait.emplace(source_.profiler(), wait_site_);
    source_.profiler().counter(ready_site_, static_cast<double>(ready_));
    Slot& slot = slotOf(taken_);
    while (!slot.ready) progress_.wait(mutex_);
    slot.ready = false;
    --ready_;
    ++taken_;
    made = std::exchange(slot.made, 0);
    error = std::exchange(slot.error, std::nullopt);
    // The slot's next batch reuses the caller's old memory.
    if (!error) std::swap(batch, slot.batch);
  }
  room_.notifyOne();
  if (error) return fail(*error);
  wait->received(batch.items, made);
  return true;
}

void PrefetchIterator::reset() {
  const ScopedLock lock(mutex_);
  begun_ = source_.batchesPerEpoch();  // begin no more of this epoch
  while (in_work_ != 0) progress_.wait(mutex_);
  for (Slot& slot : slots_) {
    slot.ready = false;
    slot.error.reset();
  }
  ready_ = 0;
  begun_ = taken_ = 0;
  ++epoch_;
  room_.notifyAll();
}

}  // namespace pitwall::data
