#include "db/sqlite/covered_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "db/try.h"

namespace pitwall::store {

namespace {

// Appends the parts of the window that the chunk's events cover.
Status appendRanges(TraceData& data, std::size_t chunk, TimeRange window, std::optional<EventKind> kind,
                    std::vector<std::int64_t> (&scratch)[3], std::vector<TimeRange>& ranges) {
  std::span<const std::int64_t> starts = PITWALL_TRY(scanColumn(data, chunk, EventColumn::start, scratch[0]));
  std::span<const std::int64_t> durs = PITWALL_TRY(scanColumn(data, chunk, EventColumn::dur, scratch[1]));
  std::span<const std::int64_t> kinds;
  if (kind.has_value()) {
    kinds = PITWALL_TRY(scanColumn(data, chunk, EventColumn::kind, scratch[2]));
  }
  bool open = !ranges.empty();
  TimeRange last;
  if (open) {
    last = ranges.back();
    ranges.pop_back();
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (kind.has_value() && kinds[i] != static_cast<std::int64_t>(*kind)) continue;
    const TimeRange range{std::max(starts[i], window.begin_ns),
                          std::min(cappedEnd(starts[i], durs[i]), window.end_ns)};
    if (range.begin_ns >= range.end_ns) continue;
    // Most events overlap or follow the previous one directly: merged here, they need no memory.
    if (open && range.begin_ns >= last.begin_ns && range.begin_ns <= last.end_ns) {
      last.end_ns = std::max(last.end_ns, range.end_ns);
      continue;
    }
    if (open) ranges.push_back(last);
    last = range;
    open = true;
  }
  if (open) ranges.push_back(last);
  return {};
}

}  // namespace

TimeRange extentOf(TraceData& data, std::uint32_t track) {
  TimeRange all{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  for (const std::uint32_t index : data.events().ofTrack(track)) {
    const ChunkSummary& summary = data.events().summaries()[index];
    all.begin_ns = std::min(all.begin_ns, summary.time_ns.least);
    all.end_ns = std::max(all.end_ns, summary.time_ns.greatest);
  }
  return all.begin_ns > all.end_ns ? TimeRange{} : all;
}

Result<std::vector<TimeRange>> coveredRanges(TraceData& data, std::uint32_t track, TimeRange window,
                                             std::optional<EventKind> kind) {
  std::vector<TimeRange> ranges;
  std::vector<std::int64_t> scratch[3];
  for (const std::uint32_t index : data.events().ofTrack(track)) {
    const ChunkSummary& summary = data.events().summaries()[index];
    if (summary.time_ns.least >= window.end_ns || summary.time_ns.greatest <= window.begin_ns) continue;
    PITWALL_TRY(appendRanges(data, index, window, kind, scratch, ranges));
  }
  const auto before = [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
  // Merged in place: the number never grows.
  std::size_t kept = 0;
  for (const TimeRange& range : ranges) {
    if (kept > 0 && range.begin_ns <= ranges[kept - 1].end_ns) {
      ranges[kept - 1].end_ns = std::max(ranges[kept - 1].end_ns, range.end_ns);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
  return ranges;
}

Result<bool> RangeStream::openNextChunk() {
  const std::span<const std::uint32_t> chunks = data_.events().ofTrack(track_);
  for (; next_chunk_ < chunks.size(); ++next_chunk_) {
    const ChunkSummary& summary = data_.events().summaries()[chunks[next_chunk_]];
    if (summary.time_ns.least >= window_.end_ns || summary.time_ns.greatest <= window_.begin_ns) continue;
    constexpr EventColumn kColumns[] = {EventColumn::start, EventColumn::dur, EventColumn::kind};
    for (std::size_t i = 0; i < (kind_.has_value() ? 3 : 2); ++i) {
      columns_[i] = PITWALL_TRY(scanColumn(data_, chunks[next_chunk_], kColumns[i], scratch_[i]));
    }
    ++next_chunk_;
    row_ = 0;
    return true;
  }
  return false;
}

Result<bool> RangeStream::next(TimeRange& range) {
  while (true) {
    for (; row_ < columns_[0].size(); ++row_) {
      if (kind_.has_value() && columns_[2][row_] != static_cast<std::int64_t>(*kind_)) continue;
      const TimeRange event{std::max(columns_[0][row_], window_.begin_ns),
                            std::min(cappedEnd(columns_[0][row_], columns_[1][row_]), window_.end_ns)};
      if (event.begin_ns >= event.end_ns) continue;
      if (!open_) {
        gathered_ = event;
        open_ = true;
      } else if (event.begin_ns < gathered_.begin_ns) {
        in_order_ = false;
        return false;
      } else if (event.begin_ns <= gathered_.end_ns) {
        gathered_.end_ns = std::max(gathered_.end_ns, event.end_ns);
      } else {
        range = std::exchange(gathered_, event);
        ++row_;
        return true;
      }
    }
    const bool more = PITWALL_TRY(openNextChunk());
    if (more) continue;
    range = gathered_;
    columns_[0] = {};
    return std::exchange(open_, false);
  }
}

}  // namespace pitwall::store
