// Batches produced on the caller's thread, on request.
#pragma once

#include "runtime/data/recorded_source.h"

namespace pitwall::data {

class DirectIterator : public BatchIterator {
 public:
  DirectIterator(Profiler& profiler, std::unique_ptr<BatchSource> source);
  Result<bool> next(Batch& batch) override;
  void reset() override;

 private:
  RecordedSource source_;
  SiteId wait_site_;
  std::int64_t epoch_ = 0;
  std::int64_t index_ = 0;
};

}  // namespace pitwall::data
