#include "db/export/selection.h"

#include <fmt/format.h>

#include <string>

#include "db/try.h"

namespace pitwall::exporting {

Status Pace::advance(std::int64_t rows) {
  done_rows_ += rows;
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed))
    return fail(ErrorCode::cancelled, "export: interrupted; nothing is written");
  if (options_.progress) options_.progress({std::min(done_rows_, total_rows_), total_rows_});
  return {};
}

bool Selection::has(ProcessId process) const {
  return processes_.empty() ||
         (process && process.value <= processes_.size() && processes_[process.value - 1]);
}

Result<Selection> Selection::make(const Trace& trace, const ExportOptions& options) {
  Selection selection;
  selection.range_ = options.range;
  if (!options.rank) return selection;
  std::string ranks;
  bool found = false;
  for (const ProcessInfo& process : trace.processes()) {
    selection.processes_.push_back(process.rank == *options.rank);
    found = found || process.rank == *options.rank;
    const std::string rank = std::to_string(process.rank);
    if ((", " + ranks + ",").find(", " + rank + ",") == std::string::npos)
      ranks += (ranks.empty() ? "" : ", ") + rank;
  }
  if (!found) {
    return fail(ErrorCode::invalidInput,
                fmt::format("'{}' has no rank {}; it has {}", trace.path(), *options.rank,
                            ranks.empty() ? "no process" : "rank " + ranks));
  }
  for (const TrackInfo& track : trace.tracks()) selection.tracks_.push_back(selection.has(track.process));
  return selection;
}

Result<std::int64_t> totalRows(Trace& trace) {
  const auto rows =
      PITWALL_TRY(trace.query("SELECT (SELECT coalesce(sum(event_count), 0) FROM event_chunk) + "
                              "(SELECT coalesce(sum(sample_count), 0) FROM counter_chunk) + "
                              "(SELECT coalesce(sum(dependency_count), 0) FROM dependency_chunk)"));
  return std::get<std::int64_t>(rows.rows.at(0).at(0));
}

}  // namespace pitwall::exporting
