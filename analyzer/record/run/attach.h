// A recording of a program that runs already.
#pragma once

#include "analyzer/record_program.h"
#include "db/result.h"

namespace pitwall::record {

// Samples process options.pid and its descendants until it ends, options.duration_s is over, or this process
// gets SIGINT, SIGTERM or SIGHUP; the program is not touched. Errors: notFound, unsupported (another user's),
// invalidInput, io.
Result<Recorded> recordProcess(const RecordOptions& options);

}  // namespace pitwall::record
