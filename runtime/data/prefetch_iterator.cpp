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
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PrefetchIterator::work(int thread) {
  source_.profiler().nameThread("prefetch " + std::to_string(thread));
  std::unique_lock lock(mutex_);
  for (;;) {
    room_.wait(lock, [this] { return stopping_ || mayBegin(); });
    if (stopping_) return;
    const std::int64_t index = begun_++;
    const std::int64_t epoch = epoch_;
    Slot& slot = slotOf(index);
    ++in_work_;
    lock.unlock();
    CorrelationId made = 0;
    Status status = source_.make(epoch, index, slot.batch, made);
    lock.lock();
    slot.made = made;
    if (!status.has_value()) slot.error = status.error();
    slot.ready = true;
    ++ready_;
    --in_work_;
    progress_.notify_all();
  }
}

Result<bool> PrefetchIterator::next(Batch& batch) {
  std::unique_lock lock(mutex_);
  if (taken_ == source_.batchesPerEpoch()) return false;
  RecordedWait wait(source_.profiler(), wait_site_);
  source_.profiler().counter(ready_site_, static_cast<double>(ready_));
  Slot& slot = slotOf(taken_);
  progress_.wait(lock, [&slot] { return slot.ready; });
  slot.ready = false;
  --ready_;
  ++taken_;
  const CorrelationId made = std::exchange(slot.made, 0);
  const std::optional<Error> error = std::exchange(slot.error, std::nullopt);
  // The slot's next batch reuses the caller's old memory.
  if (!error) std::swap(batch, slot.batch);
  lock.unlock();
  room_.notify_one();
  if (error) return fail(*error);
  wait.received(batch.items, made);
  return true;
}

void PrefetchIterator::reset() {
  std::unique_lock lock(mutex_);
  begun_ = source_.batchesPerEpoch();  // begin no more of this epoch
  progress_.wait(lock, [this] { return in_work_ == 0; });
  for (Slot& slot : slots_) {
    slot.ready = false;
    slot.error.reset();
  }
  ready_ = 0;
  begun_ = taken_ = 0;
  ++epoch_;
  lock.unlock();
  room_.notify_all();
}

}  // namespace pitwall::data
