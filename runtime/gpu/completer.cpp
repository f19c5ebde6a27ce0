#include "runtime/gpu/completer.h"

#include <chrono>
#include <utility>

namespace pitwall {
namespace {

// Between two looks: at first none, as most kernels take microseconds; later the thread sleeps.
class Patience {
 public:
  void reset() { looks_ = 0; }
  void pause() {
    constexpr int kEager = 200;
    if (++looks_ < kEager) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  int looks_ = 0;
};

}  // namespace

GpuCompleter::GpuCompleter(GpuDriver& driver) : driver_(driver), thread_([this] { run(); }) {}

GpuCompleter::~GpuCompleter() {
  {
    const ScopedLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyOne();
  thread_.join();
}

void GpuCompleter::add(GpuStream stream, GpuEvent event, Done done) {
  {
    const ScopedLock lock(mutex_);
    arrived_.push_back({stream, event, std::move(done)});
  }
  changed_.notifyOne();
}

void GpuCompleter::run() {
  Patience patience;
  while (takeArrived()) {
    if (completeSome()) {
      patience.reset();
    } else {
      patience.pause();
    }
  }
}

// Waits while there is nothing to look at. False at the end.
bool GpuCompleter::takeArrived() {
  std::vector<Entry> arrived;
  {
    const ScopedLock lock(mutex_);
    while (open_.empty() && arrived_.empty() && !stopping_) changed_.wait(mutex_);
    arrived.swap(arrived_);
  }
  for (Entry& entry : arrived) open_[entry.stream].push_back(std::move(entry));
  return !open_.empty();
}

bool GpuCompleter::completeSome() {
  bool any = false;
  for (auto stream = open_.begin(); stream != open_.end();) {
    auto& entries = stream->second;
    while (!entries.empty()) {
      const Result<bool> done = driver_.isDone(entries.front().event);
      if (done.has_value() && !*done) break;
      const Done call = std::move(entries.front().done);
      entries.pop_front();
      call(done.has_value() ? Status() : Status(fail(done.error())));
      any = true;
    }
    stream = entries.empty() ? open_.erase(stream) : std::next(stream);
  }
  return any;
}

}  // namespace pitwall
