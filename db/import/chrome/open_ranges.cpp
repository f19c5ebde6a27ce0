#include "db/import/chrome/open_ranges.h"

#include <fmt/format.h>

#include <algorithm>

namespace pitwall::import {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20;
constexpr std::size_t kIdleKeys = 4096;  // kept for the next range of that key

}  // namespace

bool OpenRanges::mayOpen(const Place& place) {
  if (count_ < kMost) {
    ++count_;
    return true;
  }
  if (too_many_ == nullptr)
    too_many_ = &builder_.tally().droppedCounter("ranges beyond a million that are open at a time");
  Tally::count(*too_many_, place);
  return false;
}

void OpenRanges::begin(const OpenRange& range) {
  if (by_track_.size() <= range.track.index) by_track_.resize(range.track.index + 1);
  by_track_[range.track.index].push_back(range);
}

OpenRange* OpenRanges::innermost(TrackRef track) {
  if (by_track_.size() <= track.index || by_track_[track.index].empty()) return nullptr;
  return &by_track_[track.index].back();
}

void OpenRanges::end(TrackRef track, std::int64_t end_ns) {
  close(by_track_[track.index].back(), end_ns);
  by_track_[track.index].pop_back();
}

void OpenRanges::beginPaired(std::uint64_t key, const OpenRange& range) { by_key_[key].push_back(range); }

bool OpenRanges::endPaired(std::uint64_t key, std::int64_t end_ns) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second.empty()) return false;
  close(found->second.back(), end_ns);
  found->second.pop_back();
  if (found->second.empty() && by_key_.size() > kIdleKeys) by_key_.erase(found);
  return true;
}

void OpenRanges::close(const OpenRange& range, std::int64_t end_ns) {
  --count_;
  Event out;
  out.start_ns = range.start_ns;
  out.dur_ns = std::max<std::int64_t>(0, end_ns - range.start_ns);
  out.name = range.name;
  out.args = range.args;
  out.kind = range.kind;
  out.op = range.op;
  builder_.add(range.track, out);
}

void OpenRanges::closeAll(const std::vector<OpenRange>& ranges, std::int64_t end_ns) {
  for (const OpenRange& range : ranges) {
    close(range, std::max(end_ns, range.start_ns));
    builder_.tally().repaired("ranges without an end: taken as lasting to the end of the trace",
                              [&] { return fmt::format("one that begins at {} ns", range.start_ns); });
  }
}

void OpenRanges::endAll() {
  const std::int64_t latest = builder_.clock().latest();
  for (const auto& ranges : by_track_) closeAll(ranges, latest);
  for (const auto& [key, ranges] : by_key_) closeAll(ranges, latest);
}

}  // namespace pitwall::import
