#include "db/sqlite/temp_copy.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "db/sqlite/file_state.h"
#include "db/temporary.h"
#include "db/try.h"

namespace pitwall::store {

namespace fs = std::filesystem;

Result<TempCopy> TempCopy::make(const std::string& path) {
  TempCopy copy;
  copy.folder_ = PITWALL_TRY(TemporaryFolder::create(fmt::format("a copy of '{}'", path)));
  copy.file_ = copy.folder_.file("copy.pitwall");
  std::error_code error;
  const std::pair<std::string, std::string> files[] = {
      {path, copy.file_}, {walPath(path), walPath(copy.file_)}, {journalPath(path), journalPath(copy.file_)}};
  for (const auto& [from, to] : files) {
    if (from != path && !fs::exists(from, error)) continue;
    if (!fs::copy_file(from, to, error)) {
      return fail(ErrorCode::io,
                  fmt::format("cannot copy '{}' to '{}': {}; free space there, or set TMPDIR to another "
                              "folder",
                              from, copy.folder_.path(), error.message()));
    }
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  }
  return copy;
}

}  // namespace pitwall::store
