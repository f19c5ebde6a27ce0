// Turns a report into text, JSON and an environment file.
#pragma once

#include <string>

#include "analyzer/report.h"
#include "db/result.h"

namespace pitwall {

// Of the JSON report. Additions keep it; renames and removals raise it.
inline constexpr int kReportSchemaVersion = 1;

struct TextOptions {
  int width = 80;      // columns to wrap at
  bool color = false;  // ANSI colours
};

std::string reportAsText(const Report& report, TextOptions options = {});
std::string reportAsJson(const Report& report);

// A file for `source FILE`: one `export NAME=value` per proposed setting, each after a comment with its
// reason and rule. Settings that the user set are commented out. Says so when there is nothing to recommend.
std::string reportAsEnvironment(const Report& report);

// Writes that text. A file that exists and was not written by Pitwall is left alone. Errors: io,
// invalidInput.
Status writeEnvironmentFile(const Report& report, const std::string& path);

// Puts the findings into the trace file, so that other tools show the same. No reader of the file should be
// open. Errors: those of saveFindings in db/findings.h.
Status saveReport(const Report& report);

}  // namespace pitwall
