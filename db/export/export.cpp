#include "db/export.h"

#include <fmt/format.h>

#include "db/export/chrome_writer.h"
#include "db/export/formats.h"
#include "db/export/output_file.h"

namespace pitwall {

namespace exporting {

Result<ExportSummary> writeChrome(Trace& trace, const std::string& output, const Selection& selection,
                                  Pace& pace) {
  auto out = OutputFile::create(output);
  if (!out.has_value()) return fail(out.error());
  Result<LocationIndex> locations = LocationIndex::create();
  if (!locations.has_value()) return fail(locations.error());
  auto summary = ChromeWriter(trace, selection, pace, **out, std::move(*locations)).write();
  if (!summary.has_value()) return summary;
  if (Status status = (*out)->finish(); !status.has_value()) return fail(status.error());
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

Result<ExportSummary> exportTrace(Trace& trace, const std::string& output, const ExportOptions& options) {
  using namespace exporting;
  if (Status status = checkOptions(output, options); !status.has_value()) return fail(status.error());
  const bool database = options.format == ExportFormat::pitwall || options.format == ExportFormat::rows;
  if (Status status = checkReplaceable(output, trace.path(), database); !status.has_value())
    return fail(status.error());
  if (options.format == ExportFormat::csv) return writeCsv(trace, output, options);
  const Result<Selection> selection = Selection::make(trace, options);
  if (!selection.has_value()) return fail(selection.error());
  const Result<std::int64_t> rows = totalRows(trace);
  if (!rows.has_value()) return fail(rows.error());
  Pace pace(options, *rows);
  switch (options.format) {
    case ExportFormat::mxnet: return writeMxnet(trace, output, *selection, pace, options);
    case ExportFormat::pitwall: return writeTrace(trace, output, *selection, pace, options);
    case ExportFormat::rows: return writeRows(trace, output, *selection, pace, options);
    default: return writeChrome(trace, output, *selection, pace);
  }
}

}  // namespace pitwall
