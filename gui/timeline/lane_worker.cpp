#include "gui/timeline/lane_worker.h"

namespace pitwall::gui {
namespace {

// Fewer events are done before another thread has woken up.
constexpr std::size_t kLongTrack = 20'000;
// Waiting events take as much memory again as lanes do.
constexpr std::size_t kMostWaiting = 2;

void finish(TimelineTrack& track, LaneBuilder& builder) {
  track.lanes = builder.finish();
  track.pyramids.reserve(track.lanes.size());
  track.name_indices.reserve(track.lanes.size());
  for (const Lane& lane : track.lanes) {
    track.pyramids.emplace_back(lane);
    track.name_indices.emplace_back(lane);
  }
}

}  // namespace

LaneWorker::~LaneWorker() {
  {
    const ScopedLock lock(mutex_);
    waiting_.clear();
    ending_ = true;
  }
  changed_.notifyAll();
  if (thread_.joinable()) thread_.join();
}

void LaneWorker::add(TimelineTrack& track, LaneBuilder builder) {
  if (track.events < kLongTrack) return finish(track, builder);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const ScopedLock lock(mutex_);
  while (waiting_.size() >= kMostWaiting) changed_.wait(mutex_);
  waiting_.push_back({&track, std::move(builder)});
  changed_.notifyAll();
}

void LaneWorker::wait() {
  const ScopedLock lock(mutex_);
  while (!waiting_.empty() || busy_) changed_.wait(mutex_);
}

void LaneWorker::run() {
  const ScopedLock lock(mutex_);
  while (true) {
    while (!ending_ && waiting_.empty()) changed_.wait(mutex_);
    if (ending_) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    {
      const ScopedUnlock unlocked(mutex_);
      changed_.notifyAll();
      finish(*job.track, job.builder);
    }
    busy_ = false;
    changed_.notifyAll();
  }
}

}  // namespace pitwall::gui
