// A timeline's columns and tiles in a file, so that a trace opens at once the second time: the file is
// mapped, not read. It is used only when it was made by this version from the same trace and is complete.
#pragma once

#include <optional>
#include <string>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// $XDG_CACHE_HOME/pitwall/timelines or ~/.cache/pitwall/timelines; empty when neither is known.
std::string timelineCacheFolder();

// What identifies a trace file and its version: path, size, time of the last change.
// nullopt: it is still being written, or cannot be read.
std::optional<std::string> traceIdentity(const Trace& trace);

// Fills lanes, tiles, name indices and `used` (by StringId.value, whether an event has the name) of a
// timeline whose tracks are known, in the order of their ids. False: there is nothing, or it does not fit;
// then nothing is filled.
bool readTimelineCache(const std::string& folder, const std::string& identity, Timeline& timeline,
                       std::vector<std::uint64_t>& used);

// Stores the timeline for the next time; the least recently used files are removed when all are
// larger than `most_bytes`. Error: io.
inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{2} << 30;
Status writeTimelineCache(const std::string& folder, const std::string& identity, const Timeline& timeline,
                          std::uint64_t most_bytes = kMostCacheBytes);

}  // namespace pitwall::gui
