// A file that is written completely or not at all.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "db/result.h"
#include "db/unfinished.h"

namespace pitwall::exporting {

// Where an output of this name goes, as by outputPath(); "-" stays. Errors: as outputPath(); invalidInput when it is the trace
// itself (`source`), for text also when it is any SQLite database; io when it is a database that is in use.
Result<std::string> checkedOutput(const std::string& path, const std::string& source, bool is_database);

// The name to write under before the rename.
std::string temporaryName(const std::string& path);

// "cannot write 'PATH': REASON; REMEDY" for an errno.
Failure cannotWrite(std::string_view path, int error);

// Buffers and writes. The first failure is kept and returned by flush() and finish(); later writes are
// ignored.
class OutputFile {
 public:
  // `path` is from checkedOutput(). Errors: io.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  ~OutputFile();
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
  OutputFile(std::string path, Unfinished temporary, int file);
  Status writeAll();

  const std::string path_;
  const Unfinished temporary_;  // none: standard output
  int file_;
  int error_ = 0;
  fmt::memory_buffer buffer_;
};

}  // namespace pitwall::exporting
