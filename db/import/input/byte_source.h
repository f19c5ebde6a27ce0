// The bytes of an input, decompressed on the way: plain, gzip (also several members) or zstd, by content.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "db/import.h"

namespace pitwall::import {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Errors: notFound, io; invalidInput for a folder or an empty file.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, const ImportLimits& limits);

  // Fills the front of `into`; 0 at the end. A damaged compressed stream ends as if the file ended there, and
  // damage() gives the reason. Errors: io, invalidInput (a limit is exceeded).
  virtual Result<std::size_t> read(std::span<char> into) = 0;

  virtual const char* compression() const = 0;    // "none", "gzip", "zstd"
  virtual const std::string& damage() const = 0;  // empty = none
  virtual Bytes fileBytes() const = 0;
  virtual Bytes consumedBytes() const = 0;  // of the file
};

}  // namespace pitwall::import
