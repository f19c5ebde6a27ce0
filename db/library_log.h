// Tracks that hold the calls of one library, imported from the library's own log. They do not show what the
// program did outside of that library.
#pragma once

#include <string_view>

namespace pitwall {

inline constexpr std::string_view kOneDnnCallsTrack = "oneDNN primitives: ";  // + engine: "cpu"
inline constexpr std::string_view kMklCallsTrack = "MKL calls";

// The library whose calls a track of that name holds: "oneDNN", "MKL"; empty = no such track.
constexpr std::string_view libraryOfTrack(std::string_view track_name) {
  if (track_name.substr(0, kOneDnnCallsTrack.size()) == kOneDnnCallsTrack) return "oneDNN";
  if (track_name == kMklCallsTrack) return "MKL";
  return {};
}

}  // namespace pitwall
