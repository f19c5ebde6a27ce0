#include "runtime/data/recorded_source.h"

#include <exception>

namespace pitwall::data {

RecordedSource::RecordedSource(Profiler& profiler, std::unique_ptr<BatchSource> source)
    : profiler_(profiler),
      source_(std::move(source)),
      site_(profiler.site("make batch", EventKind::dataWork)) {}

Status RecordedSource::make(std::int64_t epoch, std::int64_t index, Batch& batch, CorrelationId& made) {
  ScopedSpan span(profiler_, site_);
  made = profiler_.isRecording() ? profiler_.newCorrelation() : 0;
  span.setCorrelation(made);
  try {
    Status status = source_->make(epoch, index, batch);
    if (status.has_value()) span.setValue(batch.items);
    return status;
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::io, std::string("a batch could not be produced: ") + thrown.what());
  }
}

RecordedWait::~RecordedWait() {
  if (started_ == 0) return;
  const CorrelationId own = made_ == 0 ? 0 : profiler_.newCorrelation();
  if (own != 0) profiler_.dependency({made_, own, DependencyKind::batch});
  profiler_.leave(site_, started_, items_, own);
}

}  // namespace pitwall::data
