#include "runtime/data/direct_iterator.h"

#include "db/try.h"

namespace pitwall::data {

DirectIterator::DirectIterator(Profiler& profiler, std::unique_ptr<BatchSource> source)
    : source_(profiler, std::move(source)), wait_site_(profiler.site("next batch", EventKind::dataWait)) {}

Result<bool> DirectIterator::next(Batch& batch) {
  if (index_ == source_.batchesPerEpoch()) return false;
  RecordedWait wait(source_.profiler(), wait_site_);
  CorrelationId made = 0;
  PITWALL_TRY(source_.make(epoch_, index_++, batch, made));
  wait.received(batch.items, made);
  return true;
}

void DirectIterator::reset() {
  ++epoch_;
  index_ = 0;
}

}  // namespace pitwall::data
