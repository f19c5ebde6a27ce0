// Reading the files of a model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "db/result.h"
#include "db/units.h"
#include "runtime/file/open_file.h"

namespace pitwall::graph {

// A regular file, read from its start to its end.
class ModelInput {
 public:
  // Errors: as OpenFile::open().
  static Result<ModelInput> open(const std::string& path);

  Bytes left() const { return file_.size() - position_; }
  Bytes position() const { return position_; }
  // All of `to`. Errors: io; invalidInput when less is left.
  Status read(std::span<std::byte> to);
  Failure wrong(const std::string& what) const;  // invalidInput, naming file and byte
  const std::string& path() const { return file_.path(); }

 private:
  explicit ModelInput(OpenFile file) : file_(std::move(file)) {}
  OpenFile file_;
  Bytes position_ = 0;
};

}  // namespace pitwall::graph
