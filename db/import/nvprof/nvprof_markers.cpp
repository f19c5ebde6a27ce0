#include "db/import/nvprof/nvprof_markers.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "db/import/input/text.h"

namespace pitwall::import {

using store::ForeignRow;

TrackRef NvprofMarkers::trackOf(const ForeignRow& row) {
  const std::string_view object = row.text(5);  // bytes: process, and of a thread its number
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;)
      value = value << 8 | (at + i < object.size() ? static_cast<unsigned char>(object[at + i]) : 0U);
    return static_cast<std::int64_t>(value);
  };
  const ProcessRef process = builder_.tracks().process(std::to_string(number(0, 4)));
  builder_.tracks().keyIsPid(process);
  if (row.integer(4) != 2 || object.size() < 8) return builder_.tracks().lane(process, "NVTX");
  return thread_(number(0, 4), number(4, 4));
}

void NvprofMarkers::marker(const ForeignRow& row) {
  constexpr std::int64_t kInstant = 1, kStart = 2, kEnd = 4;
  constexpr std::size_t kMostOpen = std::size_t{1} << 20;
  const std::int64_t flags = row.integer(0);
  const std::int64_t time = row.integer(1);
  const std::int64_t id = row.integer(2);
  if ((flags & kStart) != 0) {
    const auto place = [&] { return fmt::format("marker {}", id); };
    const bool again = open_.contains(id);
    if (again) builder_.tally().dropped("ranges of a number that begins again before its end", place);
    if (!again && open_.size() >= kMostOpen)
      return builder_.tally().dropped(fmt::format("ranges that begin while {} others are open", kMostOpen),
                                      place);
    open_[id] = {time, row.integer(3), trackOf(row)};
    return;
  }
  Event event;
  event.start_ns = time;
  if ((flags & kInstant) != 0) {
    event.kind = EventKind::instant;
    event.name = builder_.names().name(text_(row.integer(3)));
    builder_.add(trackOf(row), event);
    return;
  }
  const auto begun = open_.find(id);
  if ((flags & kEnd) == 0 || begun == open_.end()) {
    builder_.tally().dropped("ends of ranges without a begin", fmt::format("marker {}", id));
    return;
  }
  const std::string name = text_(begun->second.name);
  event.start_ns = begun->second.start_ns;
  event.dur_ns =
      InputClock::inRange(time) && InputClock::inRange(event.start_ns) ? time - event.start_ns : INT64_MAX;
  event.name = builder_.names().name(name);
  if (builder_.add(begun->second.track, event)) {
    if (const auto step = stepNumber(name)) {
      builder_.mark(*step, event.start_ns);
      builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
    }
  }
  open_.erase(begun);
}

Status NvprofMarkers::read(std::string_view table) {
  constexpr std::array<std::string_view, 6> kColumns = {"flags", "timestamp",  "id",
                                                        "name",  "objectKind", "objectId"};
  Status status = rows_.visit(table, table, kColumns, [&](const ForeignRow& row) { marker(row); });
  for (const auto& [id, range] : open_) {
    const bool wild = !InputClock::inRange(range.start_ns);
    Event event;
    event.start_ns = range.start_ns;
    event.dur_ns = wild ? INT64_MAX : std::max<std::int64_t>(0, builder_.clock().latest() - range.start_ns);
    event.name = builder_.names().name(text_(range.name));
    if (builder_.add(range.track, event))
      builder_.tally().repaired("ranges without an end: taken as lasting to the end of the trace", "NVTX");
  }
  return status;
}

}  // namespace pitwall::import
