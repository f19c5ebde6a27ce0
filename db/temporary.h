// Folders and files in the system's temporary folder (TMPDIR, else /tmp).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "db/result.h"

namespace pitwall {

// A new folder, which only this user may enter; the destructor removes it with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;  // none
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder() { remove(); }

  // `purpose` completes the message: "cannot create a folder in '/tmp' for PURPOSE: ...". Errors: io.
  static Result<TemporaryFolder> create(std::string_view purpose);

  const std::string& path() const { return path_; }  // "" = none
  std::string file(std::string_view name) const;     // the path of a file in it

 private:
  void remove() noexcept;
  std::string path_;
};

// A descriptor of a new file without a name, open for reading and writing; the caller closes it, which frees
// its space. Errors: io, with `purpose` as above.
Result<int> openUnnamedFile(std::string_view purpose);

}  // namespace pitwall
