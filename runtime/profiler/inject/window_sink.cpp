#include "runtime/profiler/inject/window_sink.h"

#include <algorithm>

namespace pitwall::inject {

WindowSink::WindowSink(std::unique_ptr<TraceSink> inner, Window window)
    : ForwardingSink(*inner, &mutex_), window_(window), inner_(std::move(inner)) {}

void WindowSink::hold() {
  mutex_.lock();
  (void)inner_->flush();
}

void WindowSink::release() { mutex_.unlock(); }

void WindowSink::loss(const Loss& loss) {
  const ScopedLock lock(mutex_);
  if (!isLate(loss.from_ns)) inner_->loss(loss);
}

void WindowSink::iteration(const IterationMark& mark) {
  const ScopedLock lock(mutex_);
  if (isLate(mark.time_ns)) return;
  if (!window_.last_ns) return inner_->iteration(mark);
  Batch batch;
  batch.latest = mark.time_ns;
  batch.marks.push_back(mark);
  keep(std::move(batch));
}

void WindowSink::events(TrackId track, std::span<const Event> events) {
  const ScopedLock lock(mutex_);
  if (!window_.last_ns && !window_.until_ns) return inner_->events(track, events);
  Batch batch;
  batch.track = track;
  for (const Event& event : events) {
    if (isLate(event.start_ns)) continue;
    batch.events.push_back(event);
    batch.latest = std::max(batch.latest, event.start_ns + event.dur_ns);
  }
  if (batch.events.empty()) return;
  if (!window_.last_ns) return inner_->events(track, batch.events);
  keep(std::move(batch));
}

void WindowSink::dependencies(std::span<const Dependency> dependencies) {
  const ScopedLock lock(mutex_);
  if (!window_.last_ns) return inner_->dependencies(dependencies);
  Batch batch;
  batch.latest = latest_;  // they are released with the events that they join
  batch.dependencies.assign(dependencies.begin(), dependencies.end());
  keep(std::move(batch));
}

void WindowSink::counters(TrackId track, std::span<const CounterSample> samples) {
  const ScopedLock lock(mutex_);
  if (!window_.last_ns && !window_.until_ns) return inner_->counters(track, samples);
  Batch batch;
  batch.track = track;
  for (const CounterSample& sample : samples) {
    if (isLate(sample.time_ns)) continue;
    batch.samples.push_back(sample);
    batch.latest = std::max(batch.latest, sample.time_ns);
  }
  if (batch.samples.empty()) return;
  if (!window_.last_ns) return inner_->counters(track, batch.samples);
  keep(std::move(batch));
}

// Batches come nearly in order of time, so the oldest are at the front.
void WindowSink::keep(Batch batch) {
  latest_ = std::max(latest_, batch.latest);
  kept_.push_back(std::move(batch));
  while (kept_.front().latest < latest_ - *window_.last_ns) kept_.pop_front();
}

void WindowSink::write(const Batch& batch, TimeNs from) {
  std::vector<Event> events;
  for (const Event& event : batch.events) {
    if (event.start_ns + event.dur_ns >= from) events.push_back(event);
  }
  if (!events.empty()) inner_->events(batch.track, events);
  std::vector<CounterSample> samples;
  for (const CounterSample& sample : batch.samples) {
    if (sample.time_ns >= from) samples.push_back(sample);
  }
  if (!samples.empty()) inner_->counters(batch.track, samples);
  for (const IterationMark& mark : batch.marks) {
    if (mark.time_ns >= from) inner_->iteration(mark);
  }
  if (!batch.dependencies.empty()) inner_->dependencies(batch.dependencies);
}

Status WindowSink::finish() {
  const ScopedLock lock(mutex_);
  if (window_.last_ns) {
    for (const Batch& batch : kept_) write(batch, latest_ - *window_.last_ns);
    kept_.clear();
  }
  return inner_->finish();
}

}  // namespace pitwall::inject
