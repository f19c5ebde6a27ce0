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
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LaneWorker::add(TimelineTrack& track, LaneBuilder builder) {
  if (track.events < kLongTrack) return finish(track, builder);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting; });
  waiting_.push_back({&track, std::move(builder)});
  changed_.notify_all();
}

void LaneWorker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void LaneWorker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    finish(*job.track, job.builder);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace pitwall::gui
