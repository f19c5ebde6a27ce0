#include "db/sqlite/temp_copy.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "db/sqlite/file_state.h"

namespace pitwall::store {

namespace fs = std::filesystem;

TempCopy& TempCopy::operator=(TempCopy&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = std::exchange(other.folder_, {});
    file_ = std::move(other.file_);
  }
  return *this;
}

void TempCopy::remove() noexcept {
  if (folder_.empty()) return;
  std::error_code ignored;  // leftovers are in the system's temporary folder
  fs::remove_all(folder_, ignored);
}

Result<TempCopy> TempCopy::make(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string pattern = (error ? fs::path("/tmp") : parent) / "pitwall-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::io,
                fmt::format("cannot make a folder for a copy of '{}' in '{}': {}; set TMPDIR to a folder "
                            "that you may write",
                            path, parent.string(), std::strerror(errno)));
  }
  TempCopy copy;
  copy.folder_ = pattern;
  copy.file_ = (fs::path(pattern) / "copy.pitwall").string();
  const std::pair<std::string, std::string> files[] = {
      {path, copy.file_}, {walPath(path), walPath(copy.file_)}, {journalPath(path), journalPath(copy.file_)}};
  for (const auto& [from, to] : files) {
    if (from != path && !fs::exists(from, error)) continue;
    if (!fs::copy_file(from, to, error)) {
      return fail(ErrorCode::io,
                  fmt::format("cannot copy '{}' to '{}': {}; free space there, or set TMPDIR to another "
                              "folder",
                              from, pattern, error.message()));
    }
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  }
  return copy;
}

}  // namespace pitwall::store
