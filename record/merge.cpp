#include "record/merge.h"

#include <algorithm>
#include <filesystem>

#include "db/import.h"

namespace pitwall::record {

namespace fs = std::filesystem;

std::string partsFolder(const std::string& output) { return output + ".parts"; }

std::string verboseLog(const std::string& output) { return partsFolder(output) + "/onednn.log"; }

std::vector<std::string> findParts(const std::string& output) {
  std::vector<std::string> traces, logs;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(partsFolder(output), none)) {
    if (!entry.is_regular_file(none) || entry.file_size(none) == 0) continue;
    if (entry.path().extension() == ".pitwall") traces.push_back(entry.path().string());
    if (entry.path().extension() == ".log") logs.push_back(entry.path().string());
  }
  std::ranges::sort(traces);
  std::ranges::sort(logs);
  traces.insert(traces.end(), logs.begin(), logs.end());
  return traces;
}

Status mergeParts(const std::string& output, bool keep) {
  const std::vector<std::string> parts = findParts(output);
  if (!parts.empty()) {
    std::vector<std::string> inputs = {output};
    inputs.insert(inputs.end(), parts.begin(), parts.end());
    if (auto merged = importToFile(inputs, output); !merged.has_value()) return fail(merged.error());
  }
  std::error_code none;
  if (!keep || parts.empty()) fs::remove_all(partsFolder(output), none);
  return {};
}

}  // namespace pitwall::record
