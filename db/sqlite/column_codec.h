// One column of a chunk as bytes, and back. The format is documented at the top of db/schema/schema.sql.
//
// Frame of reference: the least value once, then each value's distance from it in 0, 1, 2, 4 or 8 bytes, the
// same width for the whole column. A column of equal values costs its header alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::store {

// Rows of a chunk, at most. Bounds what a damaged count can make a reader allocate.
inline constexpr std::int64_t kMaxChunkRows = 1 << 20;

// Appends nothing but replaces `out`. Precondition: values is not empty; `least` and `greatest` are its
// extremes.
void encodeColumn(std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest,
                  std::vector<std::byte>& out);
// The same, looking for the extremes itself.
void encodeColumn(std::span<const std::int64_t> values, std::vector<std::byte>& out);

// Real numbers; exact for every bit pattern.
void encodeReals(std::span<const double> values, std::vector<std::byte>& out);

// Values of a column of `count` rows. Reals come back as their IEEE bits. The error's message says what is
// wrong with the bytes ("12 bytes instead of 8205"); the caller adds which column of which chunk.
Result<std::vector<std::int64_t>> decodeColumn(std::span<const std::byte> bytes, std::int64_t count);

}  // namespace pitwall::store
