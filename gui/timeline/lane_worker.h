// Makes the lanes of tracks, and the indices for frames and searches, concurrently with the thread that reads
// events.
#pragma once

#include <deque>
#include <thread>

#include "db/mutex.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

class LaneWorker {
 public:
  LaneWorker() = default;
  ~LaneWorker();  // finishes the current work, drops waiting work
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  // Fills lanes, tiles and indices of the track, whose events are those of the builder. A short track is done
  // at once; for a long one, which is not to be touched before wait(), this waits only while several are
  // ahead.
  void add(TimelineTrack& track, LaneBuilder builder);
  // Waits until all added work is done.
  void wait();

 private:
  struct Job {
    TimelineTrack* track;
    LaneBuilder builder;
  };
  void run();

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Job> waiting_ PITWALL_GUARDED_BY(mutex_);
  bool busy_ PITWALL_GUARDED_BY(mutex_) = false;
  bool ending_ PITWALL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // started by the first long track
};

}  // namespace pitwall::gui
