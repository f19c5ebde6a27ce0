// A file that is written completely or not at all.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "db/result.h"

namespace pitwall::exporting {

// Whether `path` may become a file of an export. Errors: invalidInput when it is a folder, the trace itself
// (`source`), for a database a device, pipe or socket, for text any SQLite database.
Status checkReplaceable(const std::string& path, const std::string& source, bool is_database);

// The name to write under before the rename.
std::string temporaryName(const std::string& path);

// Renames the finished file; on failure it is removed. Errors: io.
Status moveIntoPlace(const std::string& temporary, const std::string& path);

// "cannot write 'PATH': REASON; REMEDY" for an errno.
Failure cannotWrite(std::string_view path, int error);

// Buffers and writes. The first failure is kept and returned by flush() and finish(); later writes are
// ignored.
class OutputFile {
 public:
  // "-" is standard output; a pipe or device is written in place. Errors: io.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  ~OutputFile();  // removes what finish() has not moved into place
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The buffer to append to; flush() writes it when it is large.
  fmt::memory_buffer& buffer() { return buffer_; }
  void append(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }
  // Writes when more than a megabyte is held.
  Status flush();
  // Writes the rest and gives the file its name.
  Status finish();

 private:
  OutputFile(std::string path, std::string temporary, int file);
  Status writeAll();

  const std::string path_;
  const std::string temporary_;  // empty: written in place
  int file_;
  int error_ = 0;
  fmt::memory_buffer buffer_;
};

}  // namespace pitwall::exporting
