// Facts of the recorded program in the trace: its limits, OpenMP, environment and settings.
#pragma once

#include <sys/types.h>

#include "analyzer/record/sample/process_probe.h"
#include "db/sink.h"

namespace pitwall::record {

// Writes the facts of one process as keys of db/meta.h, its environment with secrets redacted and the values
// in effect of the variables in the catalogue of settings. A later call replaces them.
void writeProcessFacts(TraceSink& sink, pid_t pid, const ProcessFacts& facts);

// "0-3,8" of 0, 1, 2, 3, 8.
std::string cpuListText(const std::vector<int>& cpus);

}  // namespace pitwall::record
