#include "db/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace pitwall {

namespace fs = std::filesystem;

namespace {

fs::path systemFolder() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : folder;
}

Failure cannotCreate(const char* what, std::string_view purpose, int error) {
  return fail(ErrorCode::io, std::string("cannot create ") + what + " in '" + systemFolder().string() +
                                 "' for " + std::string(purpose) + ": " + std::strerror(error) +
                                 "; set TMPDIR to a folder that you may write");
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  TemporaryFolder folder;
  int error = 0;
  const auto make = [&] {
    std::string name = systemFolder() / "pitwall-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) return name;
    error = errno;
    return std::string();
  };
  folder.folder_ = Unfinished::madeBy(make, Unfinished::Kind::folder);
  if (error != 0) return cannotCreate("a folder", purpose, error);
  return folder;
}

std::string TemporaryFolder::file(std::string_view name) const { return fs::path(path()) / name; }

Result<int> openUnnamedFile(std::string_view purpose) {
  // Not every file system has files without a name.
  if (const int file = ::open(systemFolder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0)
    return file;
  std::string name = systemFolder() / "pitwall-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return cannotCreate("a file", purpose, errno);
  ::unlink(name.c_str());
  return file;
}

}  // namespace pitwall
