// A sliding window over a ByteSource. A reader examines the bytes in the window, drops those it has used from
// the front, and calls more() when it needs further bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/input/byte_source.h"

namespace pitwall::import {

class Window {
 public:
  // `options` and `source` outlive the window.
  Window(ByteSource& source, const ImportOptions& options, std::string path);

  std::string_view view() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool atEnd() const { return source_ended_; }  // nothing can be added to view()

  // Drops `bytes` from the front.
  void take(std::size_t bytes) {
    begin_ += bytes;
    offset_ += static_cast<std::int64_t>(bytes);
  }
  // Adds bytes at the back, growing the window when it is full, to `limit` at most. When it can add none
  // because the source ended, atEnd() becomes true. Errors: io, cancelled, invalidInput (limits).
  Status more(std::size_t limit);

  std::int64_t offset() const { return offset_; }  // of view()'s first byte, after decompression
  std::int64_t line() const;                       // of view()'s first byte, from 1
  // "byte 123, line 4" of the position `ahead` bytes after the front.
  std::string place(std::size_t ahead = 0) const;

  ByteSource& source() { return source_; }

 private:
  ByteSource& source_;
  const ImportOptions& options_;
  const std::string path_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t offset_ = 0;
  // Lines are counted once, as far as a place has been asked for: the line of the buffer's byte `counted_`.
  mutable std::int64_t line_ = 1;
  mutable std::size_t counted_ = 0;
  Bytes reported_ = 0;
  bool source_ended_ = false;
};

}  // namespace pitwall::import
