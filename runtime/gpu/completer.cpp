#include "runtime/gpu/completer.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace pitwall {
namespace {

// Between two looks: at first nothing, as most kernels take microseconds; later sleep, for a sixteenth of the wait so far.
// So the thread needs little of a CPU during long work, and the work's end is seen after few percent of its time.
class Patience {
 public:
  void reset() { since_ = Clock::now(); }
  void pause() const {
    constexpr std::chrono::nanoseconds kEager{20'000}, kLeast{5'000}, kMost{200'000};
    const std::chrono::nanoseconds waited = Clock::now() - since_;
    if (waited < kEager) return std::this_thread::yield();
    std::this_thread::sleep_for(std::clamp(waited / 16, kLeast, kMost));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
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
  // Sleeps of microseconds are otherwise 50 microseconds longer.
  (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  Patience patience;
  for (bool idle = true; takeArrived(); idle = open_.empty()) {
    if (idle) patience.reset();
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
