// From how many elements on a loop over elements is faster on several threads: where what the threads save is more than starting
// them costs. Both are measured on this machine, when the first kernel needs it.
//
// With one thread n elements take n * element, with several team + n * element / threads: both are equal at
// n = team / (element * (1 - 1 / threads)). That is MXNet's estimate (its operator tuning).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "db/mutex.h"

namespace pitwall {

struct OperatorTuningOptions {
  bool is_on = false;  // MXNET_USE_OPERATOR_TUNING
  int cores = 0;       // MXNET_USE_NUM_CORES_OPERATOR_TUNING: threads, at most; 0 = those of OpenMP
  double scale = 0;    // MXNET_TUNING_WEIGHT_SCALE: factor on the cost of an element; 0 = 1
  bool prints_decisions = false;     // MXNET_VERBOSE_TUNING_INFO
  bool prints_measurements = false;  // MXNET_OUTPUT_TUNING_DATA
  // Nanoseconds that starting and ending a parallel region of so many threads takes. Empty: it is measured, in about 2 ms.
  std::function<double(int threads)> team_ns = {};
};

// Elements from which on `threads` are faster than one; the largest number when they never are.
std::int64_t parallelFrom(double team_ns, double element_ns, int threads);

class OperatorTuning {
 public:
  explicit OperatorTuning(OperatorTuningOptions options);
  bool isOn() const { return options_.is_on; }

  // Of the operator of this name, whose cost of an element, in nanoseconds, is measured once; 0 where that is 0, unknown. Any thread.
  std::int64_t parallelFrom(const std::string& name, const std::function<double()>& element_ns);

 private:
  double teamNs() PITWALL_REQUIRES(mutex_);

  const OperatorTuningOptions options_;
  const int threads_;
  Mutex mutex_;
  double team_ns_ PITWALL_GUARDED_BY(mutex_) = -1;  // negative: not measured
  std::map<std::string, std::int64_t> known_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall
