// A timeline's columns and tiles in a file, so that a trace opens at once the second time: the file is
// mapped, not read. It is used only when it was made by this version from the very same trace and is whole.
#pragma once

#include <optional>
#include <string>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// $XDG_CACHE_HOME/pitwall/timelines or ~/.cache/pitwall/timelines; empty when neither is known.
std::string timelineCacheFolder();

// What tells a trace from all others and from itself at another time: place, size, time of the last change.
// nullopt: it is still being written, or cannot be looked at.
std::optional<std::string> traceIdentity(const Trace& trace);

// Fills lanes, tiles, name indices and `used` (by StringId.value, whether an event is called so) of a
// timeline whose tracks are known, in the order of their ids. False: there is nothing, or it does not fit;
// then nothing is filled.
bool readTimelineCache(const std::string& folder, const std::string& identity, Timeline& timeline,
                       std::vector<std::uint64_t>& used);

// Keeps the timeline for the next time; of all that is kept, what was not used for longest goes when it is
// more than `most_bytes`. Error: io.
inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{2} << 30;
Status writeTimelineCache(const std::string& folder, const std::string& identity, const Timeline& timeline,
                          std::uint64_t most_bytes = kMostCacheBytes);

}  // namespace pitwall::gui
