// Merges the files of recorder and recorded processes into one trace.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::record {

// The folder for the parts of the trace `output`: "OUTPUT.parts".
std::string partsFolder(const std::string& output);
// The file in it for oneDNN's verbose lines.
std::string verboseLog(const std::string& output);
// The files in it that are not empty: traces, then logs; ordered by name.
std::vector<std::string> findParts(const std::string& output);

// What frameworks wrote by themselves in the recorded processes.
struct Profiles {
  std::vector<std::string>
      inputs;  // files NAME.about of the folder, and the profiles that they name, wherever these are
  std::vector<std::string> missing;  // a sentence for each profile that is named and does not exist
};
Profiles findProfiles(const std::string& output);

// Parts that are not in the merged trace; sentences that name the file.
struct LeftOut {
  std::vector<std::string> unreadable;  // these files stay in their folder
  std::vector<std::string> empty;       // of processes that recorded nothing
};

// Merges the parts and profiles into the trace `output` and removes their folder unless `keep`. What is left out becomes part of the
// trace's notes, and for unreadable parts a loss. Without parts it only removes the folder. Errors: as importTrace and
// createTrace, cancelled when `cancel` becomes true; then `output` and the parts are unchanged.
Result<LeftOut> mergeParts(const std::string& output, bool keep, const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall::record
