// A text file whose lines are read in any order, by any number of threads at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"
#include "runtime/file/open_file.h"

namespace pitwall::data {

class TextRows {
 public:
  // Reads the file once to find its lines. Errors: as OpenFile::open(); io.
  static Result<TextRows> open(const std::string& path);

  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }  // lines that are not empty
  const std::string& path() const { return file_.path(); }

  // Line `row` without its end, in `buffer`. Errors: io; invalidInput where the file has become shorter.
  Result<std::string_view> read(std::int64_t row, std::string& buffer) const;

  // "FILE: line 7: WHAT", and whether the file was written since.
  Failure wrong(std::int64_t row, std::string_view what) const;

 private:
  explicit TextRows(OpenFile file) : file_(std::move(file)) {}
  Status find();
  // Number of the row's line in the file, from 1.
  std::int64_t lineOf(std::int64_t row) const;

  struct Gap {
    std::int64_t row = 0, empty_lines = 0;  // before this row there are so many empty lines in the file
  };
  OpenFile file_;
  std::vector<Bytes> rows_;  // where each begins
  std::vector<Gap> gaps_;    // by row
  Bytes end_ = 0;            // of the last row
};

}  // namespace pitwall::data
