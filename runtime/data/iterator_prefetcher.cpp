// Batches of any iterator, taken from it ahead of time by one thread.
#include <fmt/format.h>

#include <deque>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "db/mutex.h"
#include "runtime/data/recorded_source.h"

namespace pitwall::data {
namespace {

class IteratorPrefetcher : public BatchIterator {
 public:
  IteratorPrefetcher(Profiler& profiler, std::unique_ptr<BatchIterator> inner, int depth)
      : profiler_(profiler),
        inner_(std::move(inner)),
        depth_(static_cast<std::size_t>(depth)),
        wait_site_(profiler.site("next batch", EventKind::dataWait)),
        work_site_(profiler.site("make batch", EventKind::dataWork)),
        ready_site_(profiler.site("batches ready|batches", EventKind::scope)),
        thread_([this] { work(); }) {}

  ~IteratorPrefetcher() override {
    {
      const ScopedLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notifyAll();
    thread_.join();
  }

  Result<bool> next(Batch& batch) override {
    std::optional<RecordedWait> wait;
    const ScopedLock lock(mutex_);
    if (at_end_ && ready_.empty()) return false;
    wait.emplace(profiler_, wait_site_);
    profiler_.counter(ready_site_, static_cast<double>(ready_.size()));
    while (ready_.empty() && !at_end_) changed_.wait(mutex_);
    if (ready_.empty()) {
      wait->received(0, 0);
      return false;
    }
    Made made = std::move(ready_.front());
    ready_.pop_front();
    if (made.error) {
      changed_.notifyAll();
      return fail(*made.error);
    }
    std::swap(batch, made.batch);
    used_.push_back(std::move(made.batch));  // the caller's old memory
    changed_.notifyAll();
    wait->received(batch.items, made.correlation);
    return true;
  }

  void reset() override {
    const ScopedLock lock(mutex_);
    resetting_ = true;
    while (in_work_) changed_.wait(mutex_);
    for (Made& made : ready_) used_.push_back(std::move(made.batch));
    ready_.clear();
    inner_->reset();
    at_end_ = resetting_ = false;
    changed_.notifyAll();
  }

 private:
  struct Made {
    Batch batch;
    CorrelationId correlation = 0;
    std::optional<Error> error;
  };

  // The next batch of the inner iterator. False at its end.
  bool make(Made& made) {
    ScopedSpan span(profiler_, work_site_);
    made.correlation = profiler_.isRecording() ? profiler_.newCorrelation() : 0;
    span.setCorrelation(made.correlation);
    try {
      const Result<bool> more = inner_->next(made.batch);
      if (!more.has_value()) made.error = more.error();
      span.setValue(made.error ? 0 : made.batch.items);
      return made.error || *more;
    } catch (const std::exception& thrown) {
      made.error = Error{ErrorCode::io, std::string("a batch could not be produced: ") + thrown.what()};
      return true;
    }
  }

  void work() {
    profiler_.nameThread("prefetch 0");
    const ScopedLock lock(mutex_);
    for (;;) {
      while (!stopping_ && (at_end_ || resetting_ || ready_.size() >= depth_)) changed_.wait(mutex_);
      if (stopping_) return;
      Made made;
      if (!used_.empty()) {
        made.batch = std::move(used_.back());
        used_.pop_back();
      }
      in_work_ = true;
      bool more = false;
      {
        const ScopedUnlock unlocked(mutex_);
        more = make(made);
      }
      in_work_ = false;
      if (!resetting_) {  // else it belongs to an epoch that has ended
        at_end_ = !more;
        if (more) ready_.push_back(std::move(made));
      }
      changed_.notifyAll();
    }
  }

  Profiler& profiler_;
  const std::unique_ptr<BatchIterator> inner_;  // one thread at a time: see in_work_
  const std::size_t depth_;
  const SiteId wait_site_, work_site_, ready_site_;

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Made> ready_ PITWALL_GUARDED_BY(mutex_);
  std::vector<Batch> used_ PITWALL_GUARDED_BY(mutex_);  // whose memory the next ones get
  bool in_work_ PITWALL_GUARDED_BY(mutex_) = false;
  bool at_end_ PITWALL_GUARDED_BY(mutex_) = false;
  bool resetting_ PITWALL_GUARDED_BY(mutex_) = false;
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace

Result<std::unique_ptr<BatchIterator>> prefetchBatches(Session& session,
                                                       std::unique_ptr<BatchIterator> iterator, int depth) {
  if (depth < 1 || depth > 1'000'000)
    return fail(ErrorCode::invalidInput,
                fmt::format("prefetch_depth is {}: 1 to 1000000 are allowed", depth));
  return std::unique_ptr<BatchIterator>(
      std::make_unique<IteratorPrefetcher>(session.profiler(), std::move(iterator), depth));
}

}  // namespace pitwall::data
