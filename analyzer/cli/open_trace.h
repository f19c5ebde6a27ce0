// The trace that a command is given: a Pitwall trace, or another tool's, imported for this command only.
#pragma once

#include <memory>
#include <string>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::cli {

struct OpenedTrace {
  std::unique_ptr<Trace> trace;
  bool imported =
      false;  // from another tool's format: its file is already removed, nothing can be saved in it
};

// The file's format is detected by its content. Another tool's trace is imported into the system's temporary
// folder, and one line on standard error says so; the file is removed at the end, also after ctrl-C.
// Errors: those of Trace::open and importToFile.
Result<OpenedTrace> openTrace(const std::string& path);

// The exit code for an error of openTrace(), after printing it.
int reportTraceError(const Error& error);

}  // namespace pitwall::cli
