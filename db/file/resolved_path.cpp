#include "db/file/resolved_path.h"

#include <filesystem>
#include <system_error>

namespace pitwall {

std::string resolvedPath(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return path;
  auto followed = std::filesystem::absolute(path, error);
  // weakly_canonical() does not follow a link to a file that does not exist yet.
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && !error && std::filesystem::is_symlink(followed, error); ++i)
    followed = followed.parent_path() / std::filesystem::read_symlink(followed, error);
  if (error && error != std::errc::no_such_file_or_directory) return path;
  const auto resolved = std::filesystem::weakly_canonical(followed, error);
  return error ? path : resolved.string();
}

}  // namespace pitwall
