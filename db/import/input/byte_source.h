// The bytes of an input, decompressed on the way: plain, gzip (also several members), zstd or xz, by
// content.
#pragma once

#include <cstddef>
#include <cstdint>
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

  // A part of a file that is not decompressed: `bytes` from byte `from`. `damage`: what is known of it.
  static Result<std::unique_ptr<ByteSource>> openPart(const std::string& path, std::uint64_t from,
                                                      std::uint64_t bytes, std::string damage);

  // Fills the front of `into`; 0 at the end. A damaged compressed stream ends as if the file ended there, and
  // damage() gives the reason. Errors: io, invalidInput (a limit is exceeded).
  virtual Result<std::size_t> read(std::span<char> into) = 0;

  virtual const char* compression() const = 0;    // "none", "gzip", "zstd", "xz", "tar"
  virtual const std::string& damage() const = 0;  // empty = none
  virtual Bytes fileBytes() const = 0;
  virtual Bytes consumedBytes() const = 0;  // of the file
};

// Fills `into`, as far as the source has bytes; returns their number. Errors: as ByteSource::read.
Result<std::size_t> readFully(ByteSource& source, std::span<char> into);

// Whether `produced` bytes may come from `consumed` compressed ones of `path`. Errors: invalidInput.
Status checkGrowth(const std::string& path, Bytes produced, Bytes consumed, const ImportLimits& limits);

}  // namespace pitwall::import
