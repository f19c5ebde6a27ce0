#include "analyzer/cli/input_name.h"

#include <filesystem>
#include <system_error>

namespace pitwall::cli {
namespace {

namespace fs = std::filesystem;

bool isFolder(const std::string& input) {
  std::error_code error;
  return fs::is_directory(input, error);
}

// "runs/job" of "runs/job/"; the whole path of ".".
fs::path folderPath(const std::string& input) {
  const fs::path path = (fs::path(input) / "").parent_path();
  if (path.has_filename() && path.filename() != "." && path.filename() != "..") return path;
  std::error_code error;
  const fs::path whole = fs::canonical(input, error);
  return whole.has_filename() ? whole : whole / "folder";
}

}  // namespace

std::string inputName(const std::string& input) {
  return (isFolder(input) ? folderPath(input) : fs::path(input)).filename().string();
}

std::string pathBeside(const std::string& input, const std::string& extension) {
  return isFolder(input) ? folderPath(input).string() + extension
                         : fs::path(input).replace_extension(extension).string();
}

}  // namespace pitwall::cli
