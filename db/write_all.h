// Writes bytes to a file descriptor until all are written.
#pragma once

#include <cstdint>
#include <string_view>

namespace pitwall {

// Continues after an interruption by a signal and after a partial write, and waits where a descriptor that
// does not block is full. Returns 0 or errno; then a part of the bytes may have been written.
int writeAll(int file, std::string_view bytes);

// The same at a position of a file, in bytes; the descriptor's own position stays.
int writeAllAt(int file, std::string_view bytes, std::int64_t at);

}  // namespace pitwall
