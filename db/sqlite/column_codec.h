// Encodes and decodes one column of a chunk. The format is documented at the top of db/schema/schema.sql.
//
// Each value's difference from the least one (or from the previous value) in whole bytes, in bits with
// patches for the few large ones, or compressed by zstd: whichever is smallest for the kind of column. A
// column of equal values takes only its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"

struct ZSTD_CCtx_s;

namespace pitwall::store {

// Maximum rows of a chunk. Limits the memory that a reader allocates for a damaged count.
inline constexpr std::int64_t kMaxChunkRows = 1 << 20;

// The kind of a column, which determines the encodings to try.
enum class ColumnShape : std::uint8_t {
  scattered,  // durations: most are small, some are not
  ascending,  // times, correlations: each slightly above the previous one
  repeating,  // names, kinds: few distinct values, repeating patterns
};

// Encodes columns one after the other and keeps its scratch memory. Used by one thread.
class ColumnEncoder {
 public:
  // State of an encoder for columns of one kind: where compression gained nothing, it is tried again only
  // occasionally.
  struct Experience {
    int skip = 0;
  };

  // Replaces `out`. Precondition: values is not empty; `least` and `greatest` are its extremes.
  void encode(std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest,
              ColumnShape shape, Experience& experience, std::vector<std::byte>& out);
  // The same, but computes the extremes itself and tries all encodings of the column's kind.
  void encode(std::span<const std::int64_t> values, ColumnShape shape, std::vector<std::byte>& out);
  // Real numbers; exact for every bit pattern.
  void encodeReals(std::span<const double> values, std::vector<std::byte>& out);

 private:
  enum class Type : std::uint8_t;
  void encode(Type type, std::span<const std::int64_t> values, std::int64_t least, std::int64_t greatest,
              ColumnShape shape, Experience& experience, std::vector<std::byte>& out);
  bool packed(Type type, std::span<const std::int64_t> values, std::uint64_t least, std::size_t at_most,
              std::vector<std::byte>& out);
  bool packedSteps(Type type, std::span<const std::int64_t> values, std::size_t at_most,
                   std::vector<std::byte>& out);
  bool compressed(Type type, std::span<const std::int64_t> values, std::uint64_t least, int width,
                  std::size_t at_most, std::vector<std::byte>& out);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;  // made when first needed
  std::vector<std::uint64_t> numbers_;
  std::vector<std::byte> plain_, other_;
};

// Fills `values` from a column of as many rows. Reals are returned as their IEEE bits. The error's message
// describes the damage ("12 bytes instead of 8205"); the caller adds column and chunk.
Status decodeColumn(std::span<const std::byte> bytes, std::span<std::int64_t> values);

}  // namespace pitwall::store
