// Imports into memory, with accessors for the result.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/import.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test {

// A file in a temporary folder that is removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, const std::string& name = "input") {
    std::string pattern = (std::filesystem::temp_directory_path() / "pitwall-import-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/" + name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::string path_;
};

struct Imported {
  MemorySink sink;
  ImportSummary summary;
  std::string error;  // empty = success
  ErrorCode code = ErrorCode::internal;

  std::int64_t records(const std::string& what) const {
    const auto found = summary.records.find(what);
    return found == summary.records.end() ? 0 : found->second;
  }
  std::int64_t events(const std::string& kind) const {
    const auto found = summary.events.find(kind);
    return found == summary.events.end() ? 0 : found->second;
  }
  // The count of entries whose description begins with this text.
  static std::int64_t counted(const std::map<std::string, ImportCount>& counts, std::string_view start) {
    std::int64_t total = 0;
    for (const auto& [what, entry] : counts) {
      if (what.substr(0, start.size()) == start) total += entry.count;
    }
    return total;
  }
  const TrackInfo& track(TrackId id) const { return sink.tracks.at(id.value - 1); }
  // The events of this name, with their tracks.
  std::vector<std::pair<TrackId, Event>> named(std::string_view name) const {
    std::vector<std::pair<TrackId, Event>> found;
    for (const auto& entry : sink.all_events) {
      if (sink.text(entry.second.name) == name) found.push_back(entry);
    }
    return found;
  }
  Event only(std::string_view name) const {
    const auto found = named(name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? Event{} : found.front().second;
  }
  std::vector<CounterSample> samples(std::string_view counter) const {
    std::vector<CounterSample> found;
    for (const auto& [id, sample] : sink.all_counters) {
      if (track(id).name == counter) found.push_back(sample);
    }
    return found;
  }
};

inline std::unique_ptr<Imported> importFiles(const std::vector<std::string>& paths,
                                             const ImportOptions& options = {}) {
  auto out = std::make_unique<Imported>();
  auto summary = importTrace(paths, out->sink, options);
  if (summary.has_value()) {
    out->summary = *summary;
    EXPECT_TRUE(out->sink.finished);
  } else {
    out->error = summary.error().message;
    out->code = summary.error().code;
  }
  return out;
}

inline std::unique_ptr<Imported> importText(std::string_view text, const ImportOptions& options = {}) {
  const TemporaryFile file(text);
  return importFiles({file.path()}, options);
}

// Union and span of device work, by device index, ns.
struct DeviceUse {
  std::int64_t busy_ns = 0;
  std::int64_t span_ns = 0;
  std::int64_t operations = 0;
};
inline std::map<int, DeviceUse> deviceUse(const Imported& imported) {
  std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>> intervals;
  for (const auto& [id, event] : imported.sink.all_events) {
    const TrackInfo& track = imported.track(id);
    const bool work = event.kind == EventKind::kernel || event.kind == EventKind::copy ||
                      event.kind == EventKind::communication;
    if (track.kind != TrackKind::stream || !work) continue;
    intervals[imported.sink.devices.at(track.device.value - 1).index].emplace_back(
        event.start_ns, event.start_ns + event.dur_ns);
  }
  std::map<int, DeviceUse> out;
  for (auto& [device, list] : intervals) {
    std::sort(list.begin(), list.end());
    DeviceUse& use = out[device];
    use.operations = static_cast<std::int64_t>(list.size());
    std::int64_t reached = list.front().first;
    for (const auto& [begin, end] : list) {
      use.busy_ns += std::max<std::int64_t>(0, end - std::max(begin, reached));
      reached = std::max(reached, end);
    }
    use.span_ns = reached - list.front().first;
  }
  return out;
}

}  // namespace pitwall::test
