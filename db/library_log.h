// Rows of a trace that hold the calls of one library, as the library's own log reports them. What the
// program did outside of that library cannot be seen from them.
#pragma once

#include <string_view>

namespace pitwall {

inline constexpr std::string_view kOneDnnCallsTrack = "oneDNN primitives: ";  // + engine: "cpu"
inline constexpr std::string_view kMklCallsTrack = "MKL calls";

// The library whose calls a row of that name holds: "oneDNN", "MKL"; empty = no such row.
constexpr std::string_view libraryOfTrack(std::string_view track_name) {
  if (track_name.substr(0, kOneDnnCallsTrack.size()) == kOneDnnCallsTrack) return "oneDNN";
  if (track_name == kMklCallsTrack) return "MKL";
  return {};
}

}  // namespace pitwall
