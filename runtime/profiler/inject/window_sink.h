// A TraceSink that forwards only a time window to another sink, and can be paused.
//
// Flight recorder: with `last_ns` the events of that many ns before the latest one are kept in memory and
// written at finish(); names, tracks and facts are written immediately.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "db/forwarding_sink.h"

namespace pitwall::inject {

struct Window {
  std::optional<TimeNs> last_ns;   // before the end
  std::optional<TimeNs> until_ns;  // since the trace's start; later events are left out
};

class WindowSink : public ForwardingSink {
 public:
  WindowSink(std::unique_ptr<TraceSink> inner, Window window);

  // Until release(): the inner sink has written all its data and is not called. For fork(): its thread then
  // holds no lock that would stay locked in the child.
  void hold() PITWALL_ACQUIRE(mutex_);
  void release() PITWALL_RELEASE(mutex_);

  void iteration(const IterationMark& mark) override;
  void loss(const Loss& loss) override;
  void events(TrackId track, std::span<const Event> events) override;
  void dependencies(std::span<const Dependency> dependencies) override;
  void counters(TrackId track, std::span<const CounterSample> samples) override;
  Status finish() override;

 private:
  struct Batch {
    TimeNs latest = 0;  // end of its last event
    TrackId track;
    std::vector<Event> events;
    std::vector<Dependency> dependencies;
    std::vector<CounterSample> samples;
    std::vector<IterationMark> marks;
  };
  bool isLate(TimeNs time) const { return window_.until_ns && time > *window_.until_ns; }
  void keep(Batch batch) PITWALL_REQUIRES(mutex_);
  void write(const Batch& batch, TimeNs from) PITWALL_REQUIRES(mutex_);

  const Window window_;
  Mutex mutex_;
  const std::unique_ptr<TraceSink> inner_ PITWALL_PT_GUARDED_BY(mutex_);
  std::deque<Batch> kept_ PITWALL_GUARDED_BY(mutex_);
  TimeNs latest_ PITWALL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pitwall::inject
