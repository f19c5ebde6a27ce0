#include "runtime/gpu/completer.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <limits>
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
    arrived_.push_back({stream, event, std::move(done), ++added_});
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
  for (Entry& entry : arrived) {
    const GpuStream stream = entry.stream;
    open_[stream].push_back(std::move(entry));
  }
  return !open_.empty();
}

// The entries before `before` that are done, from each stream's first on.
void GpuCompleter::takeDone(std::vector<std::pair<Entry, Status>>& into, std::uint64_t before) {
  for (auto stream = open_.begin(); stream != open_.end();) {
    auto& entries = stream->second;
    while (!entries.empty() && entries.front().order < before) {
      const Result<bool> done = driver_.isDone(entries.front().event);
      if (done.has_value() && !*done) break;
      into.emplace_back(std::move(entries.front()), done.has_value() ? Status() : Status(fail(done.error())));
      entries.pop_front();
    }
    stream = entries.empty() ? open_.erase(stream) : std::next(stream);
  }
}

// What an entry waits for was added before it and is done before it, but perhaps only since the look at its stream: a second
// look finds it.
bool GpuCompleter::completeSome() {
  std::vector<std::pair<Entry, Status>> done;
  takeDone(done, std::numeric_limits<std::uint64_t>::max());
  if (done.empty()) return false;
  const auto earlier = [](const auto& a, const auto& b) { return a.first.order < b.first.order; };
  if (open_.size() > 1 || done.size() > 1)
    takeDone(done, std::max_element(done.begin(), done.end(), earlier)->first.order);
  std::sort(done.begin(), done.end(), earlier);
  for (auto& [entry, status] : done) entry.done(std::move(status));
  return true;
}

}  // namespace pitwall
