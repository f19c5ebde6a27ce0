// Protocol Buffers' wire format: the fields of a message one after the other.
//
// A length that exceeds its message ends the message as damaged: nothing is read beyond it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::import {

struct ProtoField {
  std::uint32_t number = 0;
  bool is_bytes = false;    // a text, a message, packed numbers
  std::uint64_t value = 0;  // of a number; signed ones by a cast
  std::string_view bytes = {};

  std::int64_t integer() const { return static_cast<std::int64_t>(value); }
  double real() const { return std::bit_cast<double>(value); }  // of a fixed64
};

// The fields of a message that is in memory.
class ProtoMessage {
 public:
  explicit ProtoMessage(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and when the rest is damaged.
  bool next(ProtoField& field);
  bool damaged() const { return damaged_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

// Reads a number of at most ten bytes; false when the text ends within it.
bool takeVarint(std::string_view& text, std::uint64_t& value);

// A file that is read at any place, through a buffer, for messages too large for memory.
class ProtoFile {
 public:
  struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  // A field of a message in the file; `range` is where its bytes are.
  struct Field {
    std::uint32_t number = 0;
    bool is_bytes = false;
    std::uint64_t value = 0;
    Range range;
  };

  ProtoFile() = default;
  ProtoFile(const ProtoFile&) = delete;
  ProtoFile& operator=(const ProtoFile&) = delete;
  ~ProtoFile();

  // Errors: notFound, io.
  Status open(const std::string& path);
  Range all() const { return {0, size_}; }
  // The next field of the message in `rest`, which then begins behind it. False at its end. A field that
  // reaches beyond the message is cut there, and damage() says where. Errors: io.
  Result<bool> next(Range& rest, Field& field);
  // The bytes of a range; valid until the next call. Those behind `longest` are left out. Errors: io.
  Result<std::string_view> bytes(Range range, std::size_t longest);

  const std::string& damage() const { return damage_; }  // the first; "" = none

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::uint64_t buffer_at_ = 0;
  std::size_t filled_ = 0;
  std::string damage_;
};

}  // namespace pitwall::import
