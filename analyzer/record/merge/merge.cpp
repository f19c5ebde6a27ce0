#include "analyzer/record/merge/merge.h"

#include <algorithm>
#include <filesystem>

#include "analyzer/record/merge/unifying_sink.h"
#include "db/import.h"
#include "db/reader.h"
#include "db/store.h"
#include "db/try.h"

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

namespace {

// Under a temporary name first, so that a failure leaves `output` unchanged.
Status merge(const std::string& output, const std::vector<std::string>& parts) {
  std::vector<std::string> inputs = {output};
  inputs.insert(inputs.end(), parts.begin(), parts.end());
  std::size_t processes = 0;
  {
    auto own = PITWALL_TRY(Trace::open(output));
    processes = own->processes().size();
  }
  const std::string merging = output + ".merging";
  Status status;
  {
    auto sink = PITWALL_TRY(createTrace(merging));
    UnifyingSink unifying(*sink, processes);
    ImportOptions options;
    options.one_recording = true;
    if (auto merged = importTrace(inputs, unifying, options); !merged.has_value())
      status = fail(merged.error());
  }
  std::error_code failed;
  if (status.has_value()) fs::rename(merging, output, failed);
  if (failed) status = fail(ErrorCode::io, output + ": cannot be replaced: " + failed.message());
  if (!status.has_value()) {
    std::error_code none;
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(merging + suffix, none);
  }
  return status;
}

}  // namespace

Status mergeParts(const std::string& output, bool keep) {
  const std::vector<std::string> parts = findParts(output);
  if (!parts.empty()) {
    PITWALL_TRY(merge(output, parts));
  }
  std::error_code none;
  if (!keep || parts.empty()) fs::remove_all(partsFolder(output), none);
  return {};
}

}  // namespace pitwall::record
