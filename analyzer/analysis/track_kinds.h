// What a track shows besides its kind.
#pragma once

#include "db/event.h"

namespace pitwall::analysis {

// Whether the track shows what no thread runs: operators of a device that complete asynchronously, ranges across threads.
// What is on it did not wait for what is before it there.
inline bool isAsynchronous(const TrackInfo& track) {
  return track.kind == TrackKind::thread && !track.thread;
}

}  // namespace pitwall::analysis
