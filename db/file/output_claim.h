// Two programs that write one file.
#pragma once

#include <string>
#include <utility>

#include "db/result.h"
#include "db/unfinished.h"

namespace pitwall {

// The right to write the file at a path, held by a lock on PATH.lock, which is removed at the end. The file of a killed program is
// no lock.
class OutputClaim {
 public:
  // Errors: io (another program has it; the lock cannot be made).
  static Result<OutputClaim> take(const std::string& path);
  OutputClaim(OutputClaim&& other) noexcept
      : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  OutputClaim& operator=(OutputClaim&&) = delete;
  ~OutputClaim();

 private:
  OutputClaim(Unfinished file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  Unfinished file_;
  int descriptor_;
};

}  // namespace pitwall
