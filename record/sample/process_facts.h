// What a trace says of the recorded program: its limits, its OpenMP, its environment and the settings in it.
#pragma once

#include <sys/types.h>

#include "db/sink.h"
#include "record/sample/process_probe.h"

namespace pitwall::record {

// Writes the facts of one process as keys of db/meta.h, its environment with secrets redacted and, of the
// variables that the catalogue of settings knows, the values in effect. A later call replaces.
void writeProcessFacts(TraceSink& sink, pid_t pid, const ProcessFacts& facts);

// "0-3,8" of 0, 1, 2, 3, 8.
std::string cpuListText(const std::vector<int>& cpus);

}  // namespace pitwall::record
