#include "analyzer/analysis/data_work.h"

#include <algorithm>
#include <map>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kDataWorkColumns[] = {
    {"name", kText, "", "what is done: 'make batch', and within it 'read', 'decode', 'augment'"},
    {"count", kInteger, "count", "times that it is done, at least in part in the window"},
    {"items", kInteger, "number", "sum of the events' values: bytes of 'read', items of 'make batch'"},
    {"total_ns", kInteger, "ns", "time in the window, added up over the threads"},
    {"max_ns", kInteger, "ns", "longest time in the window"},
    {"share", kReal, "0..1", "of the time in which threads make batches"},
};

constexpr TableDeclaration kDataWorkTable{
    "analysis_data_work", "A part of making batches, within the report's window.", kDataWorkColumns};

namespace {

struct DataWorkSum {
  std::int64_t count = 0, items = 0;
  TimeNs total_ns = 0, max_ns = 0;
};

using DataWorkSums = std::map<std::string, DataWorkSum>;

Status addTrack(Trace& trace, const Window& window, TrackId track, DataWorkSums& sums) {
  return trace.eventColumns(
      {.track = track, .fields = kStart | kDur | kValue | kName | kKind}, [&](const EventSpans& events) {
        for (std::size_t i = 0; i < events.size; ++i) {
          if (static_cast<EventKind>(events.kind[i]) != EventKind::dataWork) continue;
          const TimeNs start = events.start_ns[i];
          const TimeNs inside = covered(within(window.spans, start, start + events.dur_ns[i]));
          if (inside == 0) continue;
          DataWorkSum& sum = sums[trace.string(StringId{static_cast<std::uint32_t>(events.name[i])})];
          ++sum.count;
          sum.items += events.value[i];
          sum.total_ns += inside;
          sum.max_ns = std::max(sum.max_ns, inside);
        }
        return true;
      });
}

}  // namespace

Status writeDataWork(Trace& trace, const Window& window, std::span<const TrackId> tracks, TimeNs made_ns) {
  DataWorkSums sums;
  for (const TrackId track : tracks) PITWALL_TRY(addTrack(trace, window, track, sums));
  TempTable table(kDataWorkTable);
  for (const auto& [name, sum] : sums) {
    const double share =
        static_cast<double>(sum.total_ns) / static_cast<double>(std::max<TimeNs>(1, made_ns));
    table.row({name, sum.count, sum.items, sum.total_ns, sum.max_ns, std::min(1.0, share)});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
