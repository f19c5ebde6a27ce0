#include "db/export.h"

#include <fmt/format.h>

#include "db/export/chrome_writer.h"
#include "db/export/formats.h"
#include "db/export/output_file.h"
#include "db/file/resolved_path.h"
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

Status checkOptions(const std::string& output, const ExportOptions& options) {
  const bool file = options.format == ExportFormat::pitwall || options.format == ExportFormat::rows;
  if (file && output == "-")
    return fail(ErrorCode::invalidInput, "a database cannot go to standard output; name a file with -o");
  if (!options.table.empty() && options.format != ExportFormat::csv)
    return fail(ErrorCode::invalidInput,
                "--table is for --format csv; the other formats hold the whole trace");
  if (options.range && options.range->end_ns <= options.range->begin_ns) {
    return fail(ErrorCode::invalidInput,
                fmt::format("the range {}..{} ns is empty: its end must be after its begin",
                            options.range->begin_ns, options.range->end_ns));
  }
  return {};
}

}  // namespace

}  // namespace exporting

Result<ExportSummary> exportTrace(Trace& trace, const std::string& path, const ExportOptions& options) {
  using namespace exporting;
  PITWALL_TRY(checkOptions(path, options));
  const std::string output = path.empty() || path == "-" ? path : resolvedPath(path);
  const bool database = options.format == ExportFormat::pitwall || options.format == ExportFormat::rows;
  PITWALL_TRY(checkReplaceable(output, trace.path(), database));
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
