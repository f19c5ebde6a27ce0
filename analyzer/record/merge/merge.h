// Merges the files of recorder and recorded processes into one trace.
#pragma once

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

// Merges the parts into the trace `output` and removes their folder unless `keep`. Without parts it only
// removes the folder. Errors: as importTrace and createTrace; then `output` and the parts are unchanged.
Status mergeParts(const std::string& output, bool keep);

}  // namespace pitwall::record
