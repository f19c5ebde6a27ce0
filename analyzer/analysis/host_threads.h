// Tracks of one thread: a recorder of a library's calls shows them on another track than the thread's operators.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/ids.h"

namespace pitwall::analysis {

class HostThreads {
 public:
  HostThreads() = default;  // every track is another thread
  explicit HostThreads(std::span<const TrackInfo> tracks) : first_(tracks.size() + 1) {
    std::unordered_map<std::uint32_t, std::uint32_t> by_thread;
    for (std::uint32_t track = 1; track < first_.size(); ++track) {
      const TrackInfo& info = tracks[track - 1];
      first_[track] = info.kind == TrackKind::thread && info.thread
                          ? by_thread.try_emplace(info.thread.value, track).first->second
                          : track;
    }
  }

  // The first track of the same thread; of a track without a thread itself. By TrackId.value.
  std::uint32_t first(std::uint32_t track) const { return track < first_.size() ? first_[track] : track; }

 private:
  std::vector<std::uint32_t> first_;
};

}  // namespace pitwall::analysis
