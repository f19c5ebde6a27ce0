#include "db/import/nsys/nsight_ranges.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "db/import/input/text.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::array<std::string_view, 8> kRangeColumns = {"start", "end",    "globalTid", "eventType",
                                                           "text",  "textId", "domainId",  "color"};

}  // namespace

using store::ForeignRow;

// Domains are named by separate rows.
Status NsightRanges::domains() {
  constexpr std::array<std::string_view, 5> kColumns = {"eventType", "domainId", "text", "textId",
                                                        "globalTid"};
  if (!rows_.database().has(nsight::kRanges, "domainId")) return {};
  return rows_.database().visit(nsight::kRanges, kColumns, [&](const ForeignRow& row) -> Status {
    if (row.integer(0) != 75 || domains_.size() >= 4096) return {};
    const std::string name =
        row.isNull(2) ? names_.string(row.integer(3), "domain") : std::string(row.text(2));
    domains_[{globalProcess(row.integer(4)), row.integer(1)}] = name;
    return {};
  });
}

StringId NsightRanges::rangeArgs(std::int64_t process, const ForeignRow& row, Event& event) {
  std::string text;
  if (const auto domain = domains_.find({process, row.integer(6)}); domain != domains_.end())
    text = fmt::format("\"domain\":{}", cleanJsonString(domain->second));
  if (const std::int64_t color = row.integer(7); color != 0)
    text += fmt::format("{}\"color\":\"#{:06x}\"", text.empty() ? "" : ",", color & 0xFFFFFF);
  payload_.read(row, kRangeColumns.size(), event, text);
  return text.empty() ? StringId{} : builder_.names().args("{" + text + "}");
}

Status NsightRanges::read() {
  projection_.sort();
  PITWALL_TRY(domains());
  std::array<std::string_view, kRangeColumns.size() + NsightPayload::kColumns.size()> columns;
  std::copy(NsightPayload::kColumns.begin(), NsightPayload::kColumns.end(),
            std::copy(kRangeColumns.begin(), kRangeColumns.end(), columns.begin()));
  auto status = rows_.visit(nsight::kRanges, columns, [&](const ForeignRow& row) { range(row); });
  for (auto& [thread, track, event] : open_) {
    if (InputClock::inRange(event.start_ns))
      event.dur_ns = std::max<std::int64_t>(0, builder_.clock().latest() - event.start_ns);
    if (!builder_.add(track, event)) continue;
    builder_.tally().repaired("ranges without an end: taken as lasting to the end of the trace", "NVTX");
    projection_.range(thread, event);
  }
  projection_.end();
  return status;
}

void NsightRanges::range(const ForeignRow& row) {
  const std::int64_t type = row.isNull(3) ? 59 : row.integer(3);
  if (type == 33 || type == 75) return;  // names of categories and domains
  Event event = NsightRows::times(row);
  const bool own_text = !row.isNull(4);
  event.name = own_text ? builder_.names().name(row.text(4)) : names_.rangeName(row.integer(5));
  event.args = rangeArgs(globalProcess(row.integer(2)), row, event);
  if (type == 34) {
    event.kind = EventKind::instant;
    event.dur_ns = 0;
    builder_.add(rows_.thread(row.integer(2)), event);
    return;
  }
  if (type != 59 && type != 60 && type != 70 && type != 71) {
    builder_.tally().notUnderstood("NVTX events of other types", fmt::format("eventType {}", type));
    return;
  }
  // Start/end ranges may overlap and end on another thread.
  const bool nested = type == 59 || type == 70;
  const TrackRef track =
      nested ? rows_.thread(row.integer(2))
             : builder_.tracks().lane(rows_.process(globalProcess(row.integer(2))), "NVTX start/end ranges");
  if (row.isNull(1)) {
    open_.push_back({row.integer(2), track, event});
    return;
  }
  if (!builder_.add(track, event)) return;
  projection_.range(row.integer(2), event);
  const auto step = own_text ? stepNumber(row.text(4)) : names_.rangeStep(row.integer(5));
  if (!step) return;
  builder_.mark(*step, event.start_ns);
  builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
}

}  // namespace pitwall::import
