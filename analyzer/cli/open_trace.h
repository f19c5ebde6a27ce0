// The trace that a command is given: a Pitwall trace, or another tool's, taken over for this command alone.
#pragma once

#include <memory>
#include <string>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::cli {

struct OpenedTrace {
  std::unique_ptr<Trace> trace;
  bool imported = false;  // from another tool's format: its file is already gone, nothing can be saved in it
};

// What the file is, is found out by its content. Another tool's trace is imported into the system's temporary
// folder, of which one line on standard error tells; nothing of it is left, also after ctrl-C.
// Errors: those of Trace::open and importToFile.
Result<OpenedTrace> openTrace(const std::string& path);

// The exit code for an error of openTrace(), after saying what it is.
int complainOfTrace(const Error& error);

}  // namespace pitwall::cli
