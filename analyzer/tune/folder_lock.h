// One search per folder at a time.
#pragma once

#include <string>
#include <utility>

#include "db/result.h"

namespace pitwall::tuning {

// Held until the destructor, or the end of the process, however it ends.
class FolderLock {
 public:
  // Locks FOLDER/lock. Errors: io (another search has it; the file cannot be made).
  static Result<FolderLock> take(const std::string& folder);
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

}  // namespace pitwall::tuning
