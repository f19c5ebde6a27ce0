// A copy of a database file with its logs in a temporary folder, for files that SQLite cannot read in place
// without writing beside them.
#pragma once

#include <string>
#include <utility>

#include "db/result.h"

namespace pitwall::store {

class TempCopy {
 public:
  TempCopy() = default;  // empty
  TempCopy(TempCopy&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), file_(std::move(other.file_)) {}
  TempCopy& operator=(TempCopy&& other) noexcept;
  ~TempCopy() { remove(); }

  // Copies the file, its write-ahead log and its journal. Error: io, naming source and destination.
  static Result<TempCopy> make(const std::string& path);

  const std::string& file() const { return file_; }

 private:
  void remove() noexcept;
  std::string folder_;  // "" = none
  std::string file_;
};

}  // namespace pitwall::store
