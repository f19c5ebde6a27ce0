#include "db/import/input/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "db/try.h"

namespace pitwall::import {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 65536;
constexpr int kDeepest = 8;

// All regular files below a folder, sorted.
class Listing {
 public:
  Listing(std::string shown, const std::string& output) : shown_(std::move(shown)), output_(output) {
    std::error_code none;
    output_folder_ = fs::canonical(output_.has_parent_path() ? output_.parent_path() : ".", none);
  }

  Status add(const fs::path& folder, int depth = 0) {
    std::error_code error;
    const bool of_output = !output_.empty() && fs::equivalent(folder, output_folder_, error);
    error.clear();
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++seen_ > kMostFiles)
        return fail(ErrorCode::invalidInput,
                    fmt::format("{}: holds more than {} files; name the traces", shown_, kMostFiles));
      PITWALL_TRY(entry(*at, of_output, depth));
    }
    if (error && depth == 0)
      return fail(ErrorCode::io,
                  fmt::format("{}: the folder cannot be read: {}", folder.string(), error.message()));
    if (error) notes_.push_back(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
    return {};
  }
  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<fs::path> sorted() {
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  Status entry(const fs::directory_entry& entry, bool of_output, int depth) {
    const std::string name = entry.path().filename().string();
    const bool part = name.find(".pitwall.tmp") != name.npos || name.ends_with(".pitwall-wal") ||
                      name.ends_with(".pitwall-shm") || name.ends_with(".pitwall-journal");
    if (name.starts_with('.') || part || (of_output && name == output_.filename().string())) return {};
    std::error_code error;
    if (entry.is_directory(error) && !entry.is_symlink(error)) {
      return depth < kDeepest ? add(entry.path(), depth + 1) : Status();
    }
    if (entry.is_regular_file(error)) files_.push_back(entry.path());
    return {};
  }

  const std::string shown_;
  const fs::path output_;
  fs::path output_folder_;
  std::size_t seen_ = 0;
  std::vector<fs::path> files_;
  std::vector<std::string> notes_;  // of folders below
};

struct RecordedWindow {
  std::string worker;
  std::uint64_t time = 0;  // since 1970, ns or ms; 0 = unknown
};

// "WORKER.TIME.pt.trace.json", also with ".gz".
std::optional<RecordedWindow> kinetoWindow(std::string_view name) {
  constexpr std::string_view kEnd = ".pt.trace.json";
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const std::size_t dot = name.rfind('.');
  const std::string_view time = dot == name.npos ? std::string_view() : name.substr(dot + 1);
  const bool is_time = time.size() >= 10 && time.size() <= 19 &&
                       time.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_time) return RecordedWindow{std::string(name), 0};
  return RecordedWindow{std::string(name.substr(0, dot)), std::stoull(std::string(time))};
}

bool isXplaneFile(std::string_view name) { return name.ends_with(".xplane.pb"); }

std::set<fs::path> foldersOf(const std::vector<fs::path>& files) {
  std::set<fs::path> folders;
  for (const fs::path& file : files) folders.insert(file.parent_path());
  return folders;
}

Failure severalRuns(const std::string& folder, const std::set<fs::path>& runs) {
  std::string names;
  std::size_t shown = 0;
  for (const fs::path& run : runs) {
    if (++shown > 3) break;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", run.string());
  }
  return fail(ErrorCode::invalidInput,
              fmt::format("{}: holds {} folders with traces, of several runs ({}{}); name one of them",
                          folder, runs.size(), names, runs.size() > 3 ? ", ..." : ""));
}

// Of each worker the window with the same number: the last that all of them have.
Result<FolderTraces> kinetoTraces(const std::string& folder, const std::vector<fs::path>& files) {
  if (const auto runs = foldersOf(files); runs.size() > 1) return severalRuns(folder, runs);
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> workers;
  for (const fs::path& file : files) {
    const auto window = kinetoWindow(file.filename().string());
    if (window) workers[window->worker].emplace_back(window->time, file.string());
  }
  std::size_t common = files.size();
  for (auto& [worker, windows] : workers) {
    std::sort(windows.begin(), windows.end());
    common = std::min(common, windows.size());
  }
  FolderTraces out;
  for (const auto& [worker, windows] : workers) out.files.push_back(windows[common - 1].second);
  if (out.files.size() < files.size())
    out.notes.push_back(
        fmt::format("{}: window {} of each of the {} workers is imported, the last that all of them have; {} "
                    "files of other windows "
                    "are left out: name them to import them",
                    folder, common, workers.size(), files.size() - out.files.size()));
  return out;
}

// Runs are named by their time.
Result<FolderTraces> xplaneTraces(const std::string& folder, const std::vector<fs::path>& files) {
  const auto runs = foldersOf(files);
  const fs::path profiles = runs.begin()->parent_path();
  for (const fs::path& run : runs) {
    if (runs.size() > 1 && run.parent_path() != profiles) return severalRuns(folder, runs);
  }
  FolderTraces out;
  for (const fs::path& file : files) {
    if (file.parent_path() == *runs.rbegin()) out.files.push_back(file.string());
  }
  if (runs.size() > 1)
    out.notes.push_back(fmt::format("{}: the last of {} runs is imported: {}", folder, runs.size(),
                                    runs.rbegin()->filename().string()));
  return out;
}

template <class Predicate>
std::vector<fs::path> only(const std::vector<fs::path>& files, const Predicate& predicate) {
  std::vector<fs::path> out;
  std::copy_if(files.begin(), files.end(), std::back_inserter(out),
               [&](const fs::path& file) { return predicate(file.filename().string()); });
  return out;
}

void noteOthers(const std::string& folder, std::size_t all, std::size_t known, const char* what,
                FolderTraces& out) {
  if (all > known)
    out.notes.push_back(
        fmt::format("{}: only its files {} are imported; {} others are left out", folder, what, all - known));
}

}  // namespace

Result<FolderTraces> tracesInFolder(const std::string& folder, const std::string& output) {
  Listing listing(folder, output);
  PITWALL_TRY(listing.add(folder));
  const std::vector<fs::path> files = listing.sorted();
  const auto kineto = only(files, [](const std::string& name) { return kinetoWindow(name).has_value(); });
  if (!kineto.empty()) {
    auto out = PITWALL_TRY(kinetoTraces(folder, kineto));
    noteOthers(folder, files.size(), kineto.size(), "*.pt.trace.json", out);
    out.notes.insert(out.notes.end(), listing.notes().begin(), listing.notes().end());
    return out;
  }
  const auto xplane = only(files, isXplaneFile);
  if (!xplane.empty()) {
    auto out = PITWALL_TRY(xplaneTraces(folder, xplane));
    noteOthers(folder, files.size(), xplane.size(), "*.xplane.pb", out);
    out.notes.insert(out.notes.end(), listing.notes().begin(), listing.notes().end());
    return out;
  }
  FolderTraces out;
  for (const fs::path& file : files) {
    std::error_code error;
    if (fs::equivalent(file.parent_path(), folder, error)) out.files.push_back(file.string());
  }
  if (out.files.empty())
    return fail(
        ErrorCode::invalidInput,
        files.empty()
            ? fmt::format("{}: the folder holds no files", folder)
            : fmt::format("{}: the folder holds only other folders; name one that holds traces, such as {}",
                          folder, files.front().parent_path().string()));
  return out;
}

}  // namespace pitwall::import
