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
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, -1)),
        size_(other.size_),
        written_ns_(other.written_ns_) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  const std::string& path() const { return path_; }
  Bytes size() const { return size_; }  // when it was opened

  // All of `to`, from `offset` on; any thread. Errors: io; invalidInput where the file ends before.
  Status readAt(Bytes offset, std::span<std::uint8_t> to) const;

  // Whether the file was written since it was opened, in place: a new file at the path is another one, and leaves
  // this one as it is.
  bool hasChanged() const;

  // Has the system start reading these bytes, without waiting.
  void readAhead(Bytes offset, Bytes bytes) const;

 private:
  OpenFile(std::string path, int file, Bytes size, std::int64_t written_ns)
      : path_(std::move(path)), file_(file), size_(size), written_ns_(written_ns) {}
  std::string path_;
  int file_;
  Bytes size_;
  std::int64_t written_ns_;  // when it was written last
};

}  // namespace pitwall
