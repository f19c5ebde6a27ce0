// A regular file, open for reading at any place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "db/result.h"
#include "db/units.h"

namespace pitwall {

class OpenFile {
 public:
  // Errors: notFound, io; invalidInput for what is no regular file.
  static Result<OpenFile> open(const std::string& path);
  OpenFile(OpenFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  const std::string& path() const { return path_; }
  Bytes size() const { return size_; }  // when it was opened

  // All of `to`, from `offset` on; any thread. Errors: io; invalidInput where the file ends before.
  Status readAt(Bytes offset, std::span<std::uint8_t> to) const;

  // Has the system start reading these bytes, without waiting.
  void readAhead(Bytes offset, Bytes bytes) const;

 private:
  OpenFile(std::string path, int file, Bytes size) : path_(std::move(path)), file_(file), size_(size) {}
  std::string path_;
  int file_;
  Bytes size_;
};

}  // namespace pitwall
