// The data pipeline: what the program waits for, and how fast batches are made and used.
#include <algorithm>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

Status writeData(Trace& trace, const Context& context) {
  TempTable table(
      "analysis_data",
      "wait_ns_per_iteration REAL, wait_share REAL, wait_p50_ns REAL, wait_p95_ns REAL, waits INTEGER, "
      "producers INTEGER, batches INTEGER, producer_ns_per_batch REAL, producer_batches_per_second REAL, "
      "consumer_batches_per_second REAL, producer_busy REAL");
  std::vector<double> waits;
  std::int64_t batches = 0, producers = 0;
  TimeNs work_ns = 0, producer_span = 0;
  Intervals all_waits;
  for (const auto& track : context.activity.tracks) {
    for (const auto& wait : track.data_wait_list) {
      waits.push_back(static_cast<double>(wait.end_ns - wait.start_ns));
      all_waits.push_back(wait);
    }
    if (track.data_works == 0) continue;
    ++producers;
    batches += track.data_works;
    work_ns += track.data_work_ns;
    producer_span += track.last_ns - track.first_ns;
  }
  const TimeNs span = context.timeline.end_ns - context.timeline.begin_ns;
  const auto seconds = static_cast<double>(span) * 1e-9;
  const auto iterations = static_cast<double>(std::max<std::size_t>(1, context.iterations.all.size()));
  const auto waited = static_cast<double>(covered(united(std::move(all_waits))));
  std::sort(waits.begin(), waits.end());
  if (waits.empty() && batches == 0) return table.write(trace);
  const auto per_batch = batches > 0 ? static_cast<double>(work_ns) / static_cast<double>(batches) : 0;
  table.row({waited / iterations, known(span > 0, waited / static_cast<double>(std::max<TimeNs>(1, span))),
             quantileOfSorted(waits, 0.5), quantileOfSorted(waits, 0.95),
             static_cast<std::int64_t>(waits.size()), producers, batches, known(batches > 0, per_batch),
             known(per_batch > 0, static_cast<double>(producers) * 1e9 / std::max(per_batch, 1.0)),
             known(seconds > 0, iterations / std::max(seconds, 1e-9)),
             known(producer_span > 0,
                   static_cast<double>(work_ns) / static_cast<double>(std::max<TimeNs>(1, producer_span)))});
  return table.write(trace);
}

}  // namespace pitwall::analysis
