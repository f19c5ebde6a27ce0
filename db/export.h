// Exports traces for other tools: docs/export.md says what each format contains and what it cannot represent.
//
// A trace is read and written chunk by chunk; memory does not grow with the trace. A file is written under a
// temporary name and renamed at the end, so that a failure, an interrupt or a kill never leaves an incomplete
// file under the requested name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/moved_times.h"
#include "db/reader.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall {

enum class ExportFormat : std::uint8_t {
  chrome,   // Chrome Trace Event JSON, for Perfetto, chrome://tracing, and back into Pitwall
  mxnet,    // profile.json as MXNet's profiler writes it
  csv,      // one table or view of `pitwall query --schema`
  pitwall,  // a trace file: of a time range or a rank, or a copy
  rows,     // an SQLite database with ordinary rows, for programs that cannot read chunks
};

// Half-open, ns since the trace's start.
struct ExportRange {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

// "1.5s..2s", "20ms.." or "..7": since the trace's start, in ns without a unit (s, ms, us, ns). Errors:
// invalidInput, about --range.
Result<ExportRange> parseExportRange(const std::string& text);

struct ExportProgress {
  std::int64_t done_rows = 0;  // events, samples and dependencies
  std::int64_t total_rows = 0;
};

struct ExportOptions {
  ExportFormat format = ExportFormat::chrome;
  // What to export: events that touch the range, whole; samples within it; dependencies both of whose ends
  // are included. Not for csv.
  std::optional<ExportRange> range;
  // Only the processes of this rank. Not for csv.
  std::optional<int> rank;
  const MovedTimes* times = nullptr;  // pitwall: the times of the copy; null = those of the trace
  std::string simulated_changes;      // pitwall: what `times` simulate; stated in the copy
  std::string table;                  // csv: its name
  bool mxnet_doubled = true;  // mxnet: operators also as b/e tasks of their category, as MXNet writes them
  std::function<void(const ExportProgress&)> progress;  // about ten thousand rows apart
  // When it becomes true, the export ends with the error `cancelled`. May be set from a signal handler.
  const std::atomic<bool>* cancel = nullptr;
};

struct ExportSummary {
  std::int64_t events = 0;
  std::int64_t samples = 0;
  std::int64_t dependencies = 0;
  std::int64_t rows = 0;           // csv
  std::vector<std::string> notes;  // what the format cannot represent, counted
};

// Writes the trace to `output`; "-" is standard output (a database is made in the temporary folder first). An existing file is
// replaced, but not the trace itself, and a trace or another program's database only by the formats that write
// databases. Errors: invalidInput (no such table or rank, an option that the format does not support, a file
// that is not replaced, anything but a file); io (not writable, disk full, in use; nothing is left); cancelled; corruptTrace.
Result<ExportSummary> exportTrace(Trace& trace, const std::string& output, const ExportOptions& options);

// Writes text, such as a report, to the file; on failure the old content stays. "-" is standard output.
// Errors: invalidInput (anything but a file; a trace or another database, which text never replaces), io (not writable, disk full).
Status replaceFile(const std::string& path, std::string_view text);

// Writes the bytes of a file to standard output. Errors: invalidInput (that is a terminal), io.
Status copyToStandardOutput(const std::string& path);

}  // namespace pitwall
