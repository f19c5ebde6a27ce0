#include "db/output_path.h"

#include <filesystem>
#include <system_error>

namespace pitwall {

namespace fs = std::filesystem;

namespace {

const char* nameOf(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory: return "a folder";
    case fs::file_type::fifo: return "a pipe";
    case fs::file_type::socket: return "a socket";
    default: return "a device";
  }
}

}  // namespace

Result<std::string> outputPath(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::invalidInput, "no file name to write to: give one");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return fail(ErrorCode::invalidInput, "cannot write '" + path + "': it is " + nameOf(status.type()) +
                                             ", and only files are written; choose another path");
  }
  auto followed = fs::absolute(path, error);
  // weakly_canonical() does not follow a link to a file that does not exist yet.
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && !error && fs::is_symlink(followed, error); ++i)
    followed = followed.parent_path() / fs::read_symlink(followed, error);
  if (error && error != std::errc::no_such_file_or_directory) return path;
  const auto resolved = fs::weakly_canonical(followed, error);
  return error ? path : resolved.string();
}

}  // namespace pitwall
