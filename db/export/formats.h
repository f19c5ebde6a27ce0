// One function per format. The caller has checked the output path.
#pragma once

#include <string>

#include "db/export.h"
#include "db/export/selection.h"
#include "db/sink.h"

namespace pitwall::exporting {

Result<ExportSummary> writeChrome(Trace& trace, const std::string& output, const Selection& selection,
                                  Pace& pace);
Result<ExportSummary> writeMxnet(Trace& trace, const std::string& output, const Selection& selection,
                                 Pace& pace, const ExportOptions& options);
Result<ExportSummary> writeCsv(Trace& trace, const std::string& output, const ExportOptions& options);
Result<ExportSummary> writeTrace(Trace& trace, const std::string& output, const Selection& selection,
                                 Pace& pace, const ExportOptions& options);
Result<ExportSummary> writeRows(Trace& trace, const std::string& output, const Selection& selection,
                                Pace& pace, const ExportOptions& options);

// The same into any sink, without finishing it.
Result<ExportSummary> copyTrace(Trace& trace, TraceSink& sink, const Selection& selection, Pace& pace,
                                const ExportOptions& options);

}  // namespace pitwall::exporting
