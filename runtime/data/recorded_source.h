// A source that records every batch in the trace: thread, time, and the next() it is for.
#pragma once

#include <memory>

#include "runtime/data.h"
#include "runtime/profiler.h"

namespace pitwall::data {

class RecordedSource {
 public:
  RecordedSource(Profiler& profiler, std::unique_ptr<BatchSource> source);

  std::int64_t batchesPerEpoch() const { return source_->batchesPerEpoch(); }

  // On the calling thread, as a dataWork span. Sets `made` to the span's correlation (0 when nothing is
  // recorded). Exceptions of the source are returned as errors.
  Status make(std::int64_t epoch, std::int64_t index, Batch& batch, CorrelationId& made);

  Profiler& profiler() { return profiler_; }

 private:
  Profiler& profiler_;
  std::unique_ptr<BatchSource> source_;
  SiteId site_;
};

// The dataWait span of one next(). Recorded at the end of its life when a batch was received.
class RecordedWait {
 public:
  RecordedWait(Profiler& profiler, SiteId site) : profiler_(profiler), site_(site) {
    if (profiler.isRecording()) started_ = profiler.enter(site);
  }
  ~RecordedWait();
  RecordedWait(const RecordedWait&) = delete;
  RecordedWait& operator=(const RecordedWait&) = delete;

  void received(std::int64_t items, CorrelationId made) {
    items_ = items;
    made_ = made;
  }

 private:
  Profiler& profiler_;
  SiteId site_;
  Ticks started_ = 0;
  std::int64_t items_ = 0;
  CorrelationId made_ = 0;
};

}  // namespace pitwall::data
