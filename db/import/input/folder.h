// The traces in a folder: what the profiler of a job writes there, one file or more for each rank.
#pragma once

#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::import {

struct FolderTraces {
  std::vector<std::string> files;  // in the order of their names
  std::vector<std::string> notes;  // which files are left out, and why
};

// Layouts of TensorBoard: `WORKER.TIME.pt.trace.json` (PyTorch; one file a recording window, of which the last
// that all workers have is taken) and `plugins/profile/RUN/HOST.xplane.pb` (JAX, TensorFlow; the last run). Else
// all regular files directly in the folder; their content is not looked at. Hidden files, and `output` with the
// files beside it that belong to it, are left out; links to folders are not followed. Errors: io (it cannot be
// read); invalidInput (no files, more than 65536, or files of several runs).
Result<FolderTraces> tracesInFolder(const std::string& folder, const std::string& output);

}  // namespace pitwall::import
