// Recognises kinds of files by their first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "db/result.h"

namespace pitwall::magic {

// Sufficient for each of the functions below.
inline constexpr std::size_t kStartBytes = 72;
// Of a Pitwall trace: the id of its program in the header of the database.
inline constexpr std::string_view kTraceId = "Pitw";

// RFC 1952 section 2.3.1; RFC 8878 section 3.1.1; PKWARE's APPNOTE 4.3.7 (an archive with a member).
inline bool isGzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }
inline bool isZstd(std::string_view start) { return start.starts_with("\x28\xb5\x2f\xfd"); }
// https://tukaani.org/xz/xz-file-format.txt section 2.1.1.1.
inline bool isXz(std::string_view start) {
  return start.starts_with(
      std::string_view("\xFD"
                       "7zXZ\0",
                       6));
}
inline bool isZip(std::string_view start) { return start.starts_with("PK\x03\x04"); }

// https://www.sqlite.org/fileformat2.html section 1.3.
inline bool isSqlite(std::string_view start) {
  return start.starts_with(std::string_view("SQLite format 3\0", 16));
}
// The application id, 4 bytes; empty if this is no database or the id is not within `start`.
inline std::string_view sqliteProgram(std::string_view start) {
  return isSqlite(start) && start.size() >= kStartBytes ? start.substr(68, 4) : std::string_view();
}

// The first kStartBytes of a file, less if it is shorter. Errors: io (it cannot be opened or read).
Result<std::string> startOf(const std::string& path);

}  // namespace pitwall::magic
