// One file of the idx format: two zero bytes, a type, the number of dimensions, each dimension as a
// big-endian 32-bit number, then the elements. Gzipped or plain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::data {

struct IdxFile {
  std::vector<std::int64_t> dimensions;
  std::vector<std::uint8_t> bytes;  // the elements
};

// A file of unsigned bytes with `dimensions` dimensions. Errors: notFound, io, invalidInput naming file, byte
// and cause.
Result<IdxFile> readIdxFile(const std::string& path, int dimensions);

}  // namespace pitwall::data
