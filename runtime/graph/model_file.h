// Reading and writing the files of a model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "db/result.h"
#include "db/unfinished.h"
#include "db/units.h"

namespace pitwall::graph {

// A regular file, read from its start to its end.
class ModelInput {
 public:
  // Errors: notFound, io; invalidInput for what is no regular file.
  static Result<ModelInput> open(const std::string& path);
  ModelInput(ModelInput&& other) noexcept;
  ModelInput& operator=(ModelInput&&) = delete;
  ~ModelInput();

  Bytes left() const { return size_ - position_; }
  Bytes position() const { return position_; }
  // All of `to`. Errors: io; invalidInput when less is left.
  Status read(std::span<std::byte> to);
  Failure wrong(const std::string& what) const;  // invalidInput, naming file and byte
  const std::string& path() const { return path_; }

 private:
  ModelInput(std::string path, int file, Bytes size) : path_(std::move(path)), file_(file), size_(size) {}
  std::string path_;
  int file_;
  Bytes size_, position_ = 0;
};

// A file that replaces the one at the path when finish() succeeds, and leaves it as it is otherwise.
class ModelOutput {
 public:
  // Errors: invalidInput for a path that is no regular file; io.
  static Result<ModelOutput> create(const std::string& path);
  ModelOutput(ModelOutput&& other) noexcept;
  ModelOutput& operator=(ModelOutput&&) = delete;
  ~ModelOutput();

  Status write(std::string_view bytes);
  Status finish();

 private:
  ModelOutput(std::string path, Unfinished draft, int file)
      : path_(std::move(path)), draft_(std::move(draft)), file_(file) {}
  Failure refused(int error) const;
  std::string path_;
  Unfinished draft_;
  int file_;
};

}  // namespace pitwall::graph
