#include "db/export.h"

#include <fmt/format.h>

#include "db/export/chrome_writer.h"
#include "db/export/formats.h"
#include "db/export/output_file.h"
#include "db/temporary.h"
#include "db/try.h"

namespace pitwall {

namespace exporting {

Result<ExportSummary> writeChrome(Trace& trace, const std::string& output, const Selection& selection,
                                  Pace& pace) {
  auto out = PITWALL_TRY(OutputFile::create(output));
  LocationIndex locations = PITWALL_TRY(LocationIndex::create());
  auto summary = PITWALL_TRY(ChromeWriter(trace, selection, pace, *out, std::move(locations)).write());
  PITWALL_TRY(out->finish());
  return summary;
}

namespace {

Status checkOptions(const ExportOptions& options) {
  if (!options.table.empty() && options.format != ExportFormat::csv)
    return fail(ErrorCode::invalidInput,
                "--table is for --format csv; the other formats hold the whole trace");
  if (options.times != nullptr && options.format != ExportFormat::pitwall)
    return fail(ErrorCode::invalidInput, "simulated times are written as a trace only");
  if (options.range && options.range->end_ns <= options.range->begin_ns) {
    return fail(ErrorCode::invalidInput,
                fmt::format("the range {}..{} ns is empty: its end must be after its begin",
                            options.range->begin_ns, options.range->end_ns));
  }
  return {};
}

// SQLite writes a database at many places, so that it is made in a file first.
Result<ExportSummary> databaseToStandardOutput(Trace& trace, const ExportOptions& options) {
  const TemporaryFolder folder = PITWALL_TRY(TemporaryFolder::create("a database for standard output"));
  const std::string file = folder.file("database");
  auto summary = PITWALL_TRY(exportTrace(trace, file, options));
  PITWALL_TRY(copyToStandardOutput(file));
  return summary;
}

}  // namespace

}  // namespace exporting

Result<ExportSummary> exportTrace(Trace& trace, const std::string& path, const ExportOptions& options) {
  using namespace exporting;
  PITWALL_TRY(checkOptions(options));
  const bool database = options.format == ExportFormat::pitwall || options.format == ExportFormat::rows;
  if (database && path == "-") return databaseToStandardOutput(trace, options);
  const std::string output = PITWALL_TRY(checkedOutput(path, trace.path(), database));
  if (options.format == ExportFormat::csv) return writeCsv(trace, output, options);
  const Selection selection = PITWALL_TRY(Selection::make(trace, options));
  const std::int64_t rows = PITWALL_TRY(totalRows(trace));
  Pace pace(options, rows);
  switch (options.format) {
    case ExportFormat::mxnet: return writeMxnet(trace, output, selection, pace, options);
    case ExportFormat::pitwall: return writeTrace(trace, output, selection, pace, options);
    case ExportFormat::rows: return writeRows(trace, output, selection, pace, options);
    default: return writeChrome(trace, output, selection, pace);
  }
}

}  // namespace pitwall
