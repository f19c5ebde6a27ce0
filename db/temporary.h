// Folders and files in the system's temporary folder (TMPDIR, else /tmp).
#pragma once

#include <string>
#include <string_view>

#include "db/result.h"
#include "db/unfinished.h"

namespace pitwall {

// A new folder, which only this user may enter; removed with its contents by the destructor, or when a
// signal ends the command.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;  // none

  // `purpose` completes the message: "cannot create a folder in '/tmp' for PURPOSE: ...". Errors: io.
  static Result<TemporaryFolder> create(std::string_view purpose);

  const std::string& path() const { return folder_.path(); }  // "" = none
  std::string file(std::string_view name) const;              // the path of a file in it

 private:
  Unfinished folder_;
};

// A descriptor of a new file without a name, open for reading and writing; the caller closes it, which frees
// its space. Errors: io, with `purpose` as above.
Result<int> openUnnamedFile(std::string_view purpose);

}  // namespace pitwall
