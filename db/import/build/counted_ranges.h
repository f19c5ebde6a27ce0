// Joins ranges with hardware counters to the calls that launched their kernels.
//
// CUPTI's range profiler counts one kernel after the other and gives no correlation numbers: where a file has
// as many ranges as launches, they are paired in order of time.
#pragma once

#include <utility>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

class CountedRanges {
 public:
  explicit CountedRanges(Builder& builder) : builder_(builder) {}

  // A range; returns its correlation.
  CorrelationId range(TimeNs start_ns);
  // A call; used only if its name is one that launches a kernel. 0 = no correlation.
  void call(std::string_view name, TimeNs start_ns, CorrelationId correlation);
  // Joins them, or gives the reason in a note.
  void end();

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // 16 MiB of each

  Builder& builder_;
  std::vector<std::pair<TimeNs, CorrelationId>> ranges_, launches_;
  bool too_many_ = false;
};

}  // namespace pitwall::import
