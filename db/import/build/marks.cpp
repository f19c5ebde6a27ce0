#include "db/import/build/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace pitwall::import {
namespace {

constexpr std::size_t kMostMarks = std::size_t{1} << 20;

}  // namespace

void Marks::add(std::int64_t index, std::int64_t time_ns) {
  if (marks_.size() >= kMostMarks) return tally_.dropped("marks of iterations beyond the first million", "");
  marks_.push_back({index, time_ns, 0});
}

void Marks::endInput(TraceSink& sink, std::int64_t zero_ns) {
  std::int64_t& written = tally_.summary().events["iterations"];
  if (!marks_.empty() && written > 0) {
    tally_.note(fmt::format("{}: its iteration marks are left out, since those of the first input are used",
                            tally_.input().path));
    marks_.clear();
  }
  std::stable_sort(marks_.begin(), marks_.end(),
                   [](const IterationMark& a, const IterationMark& b) { return a.time_ns < b.time_ns; });
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (IterationMark mark : marks_) {
    if (mark.index <= last) continue;  // the same step seen on another thread
    last = mark.index;
    mark.time_ns -= zero_ns;
    sink.iteration(mark);
    ++written;
  }
  marks_.clear();
}

}  // namespace pitwall::import
