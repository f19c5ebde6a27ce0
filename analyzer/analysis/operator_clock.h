// How long operators have run, at some moments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/analysis/timeline.h"
#include "db/units.h"

namespace pitwall::analysis {

class OperatorClock {
 public:
  // In any order, some perhaps more than once.
  explicit OperatorClock(std::vector<TimeNs> moments) : moments_(std::move(moments)) {
    std::sort(moments_.begin(), moments_.end());
    moments_.erase(std::unique(moments_.begin(), moments_.end()), moments_.end());
    ran_.reserve(moments_.size());
  }

  // In order of time.
  void add(std::span<const OperatorInterval> operators) {
    if (ran_.size() == moments_.size()) return;
    for (const auto& op : operators) {
      if (op.end_ns <= op.start_ns || op.end_ns <= until_ns_) continue;
      const TimeNs start = std::max(op.start_ns, until_ns_);
      if (start > until_ns_) note(start), until_ns_ = begin_ns_ = start;
      until_ns_ = op.end_ns;
      note(until_ns_);
      ran_ns_ += until_ns_ - begin_ns_;
      begin_ns_ = until_ns_;
    }
  }

  // Time in which operators ran before the moment; after the last time chunk.
  TimeNs ran(TimeNs moment) {
    note(INT64_MAX);
    const auto at = std::lower_bound(moments_.begin(), moments_.end(), moment);
    return ran_[static_cast<std::size_t>(at - moments_.begin())];
  }

 private:
  // Of the moments up to that time: since begin_ns_ operators run until until_ns_.
  void note(TimeNs to) {
    while (ran_.size() < moments_.size() && moments_[ran_.size()] <= to) {
      const TimeNs moment = moments_[ran_.size()];
      ran_.push_back(ran_ns_ + std::max<TimeNs>(0, std::min(moment, until_ns_) - begin_ns_));
    }
  }

  std::vector<TimeNs> moments_, ran_;
  TimeNs begin_ns_ = INT64_MIN, until_ns_ = INT64_MIN, ran_ns_ = 0;
};

}  // namespace pitwall::analysis
