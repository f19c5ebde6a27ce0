// The trace that a command is given: a Pitwall trace, or another tool's, imported for this command only.
#pragma once

#include <memory>
#include <string>

#include "db/reader.h"
#include "db/result.h"
#include "db/temporary.h"

namespace pitwall::cli {

struct OpenedTrace {
  std::unique_ptr<Trace> trace;
  bool imported = false;  // from another tool's format, or a copy of a stream: nothing can be saved in it
  std::shared_ptr<const TemporaryFolder> copy;  // of a stream: removed with the last owner
};

// The file's format is detected by its content. Another tool's trace is imported into the system's temporary
// folder, and one line on standard error says so; the file is removed at the end, also after ctrl-C. A folder is imported in the
// same way, as one job. `name` may be a pipe, or "-" for standard input. Errors: those of inputPath, Trace::open and importToFile.
Result<OpenedTrace> openTrace(const std::string& name);

// The exit code for an error of openTrace(), after printing it.
int reportTraceError(const Error& error);

}  // namespace pitwall::cli
