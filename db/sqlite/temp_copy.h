// A copy of a database file with its logs in a temporary folder, for files that SQLite cannot read in place
// without writing beside them.
#pragma once

#include <string>

#include "db/result.h"
#include "db/temporary.h"

namespace pitwall::store {

class TempCopy {
 public:
  // Copies the file, its write-ahead log and its journal. Error: io, naming source and destination.
  static Result<TempCopy> make(const std::string& path);

  const std::string& file() const { return file_; }

 private:
  TemporaryFolder folder_;
  std::string file_;
};

}  // namespace pitwall::store
