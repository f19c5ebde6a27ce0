#include "analyzer/analysis/sorted_times.h"

#include <algorithm>

namespace pitwall::analysis {

// A step is a number of seven bits a byte, the low ones first; all bytes but the last have the eighth bit.
void SortedTimes::endRun() {
  if (run_.empty()) return;
  if (!std::is_sorted(run_.begin(), run_.end())) std::sort(run_.begin(), run_.end());
  steps_.clear();
  for (std::size_t i = 1; i < run_.size(); ++i) {
    auto step = static_cast<std::uint64_t>(run_[i]) - static_cast<std::uint64_t>(run_[i - 1]);
    for (; step >= 0x80; step >>= 7) steps_.push_back(static_cast<std::uint8_t>(step | 0x80));
    steps_.push_back(static_cast<std::uint8_t>(step));
  }
  runs_.push_back({run_.front(), {steps_.begin(), steps_.end()}});  // no larger than necessary
  count_ += static_cast<std::int64_t>(run_.size());
  run_.clear();
}

SortedTimes::Cursor::Cursor(const SortedTimes& times) {
  for (const Run& run : times.runs_)
    waiting_.push_back({run.first, run.steps.data(), run.steps.data() + run.steps.size()});
  std::sort(waiting_.begin(), waiting_.end(), later);
}

bool SortedTimes::Cursor::next(TimeNs& time) {
  while (!waiting_.empty() && (open_.empty() || waiting_.back().time <= open_.front().time)) {
    open_.push_back(waiting_.back());
    std::push_heap(open_.begin(), open_.end(), later);
    waiting_.pop_back();
  }
  if (open_.empty()) return false;
  if (open_.size() > 1) std::pop_heap(open_.begin(), open_.end(), later);
  At& at = open_.back();
  time = at.time;
  if (at.next == at.end) {
    open_.pop_back();
    return true;
  }
  std::uint64_t step = 0;
  for (int shift = 0;; shift += 7) {
    const std::uint8_t byte = *at.next++;
    step |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  at.time = static_cast<TimeNs>(static_cast<std::uint64_t>(at.time) + step);
  if (open_.size() > 1) std::push_heap(open_.begin(), open_.end(), later);
  return true;
}

}  // namespace pitwall::analysis
