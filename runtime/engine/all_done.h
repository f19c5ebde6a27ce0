// Several steps that together complete one operator.
#pragma once

#include <cstddef>
#include <utility>

#include "db/mutex.h"
#include "runtime/operator_function.h"

namespace pitwall {

// Completes the operator when all steps are done, with the first error. Any thread.
class AllDone {
 public:
  AllDone(std::size_t count, Completion completion) : left_(count), completion_(std::move(completion)) {}
  void one(Status status) {
    {
      const ScopedLock lock(mutex_);
      if (!status.has_value() && first_.has_value()) first_ = std::move(status);
      if (--left_ != 0) return;
    }
    completion_(std::move(first_));
  }

 private:
  Mutex mutex_;
  std::size_t left_ PITWALL_GUARDED_BY(mutex_);
  Status first_;
  Completion completion_;
};

}  // namespace pitwall
