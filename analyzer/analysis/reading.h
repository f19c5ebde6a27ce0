// How an analysis reads a trace: how much at a time, and whether it is cancelled.
#pragma once

#include <atomic>
#include <cstddef>

#include "db/result.h"

namespace pitwall::analysis {

struct Reading {
  std::size_t events_at_once = 0;  // 0: as many as suit the trace
  const std::atomic<bool>* cancel = nullptr;

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
  // Error: cancelled.
  Status checkCancelled() const {
    if (cancelled()) return fail(ErrorCode::cancelled, "the analysis was cancelled");
    return {};
  }
};

}  // namespace pitwall::analysis
