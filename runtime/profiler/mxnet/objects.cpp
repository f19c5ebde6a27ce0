#include "runtime/mxnet_profiler.h"
#include "runtime/profiler/mxnet/state.h"

namespace pitwall::mxnet {

void Span::start() { started_ = recorder_->isRecording() ? Profiler::now() : 0; }

void Span::stop() {
  if (started_ == 0) return;
  recorder_->span(site_, started_, Profiler::now());
  started_ = 0;
}

void Counter::setValue(std::int64_t value) {
  value_->store(value);
  recorder_->counter(site_, static_cast<double>(value));
}

void Counter::change(std::int64_t by) {
  recorder_->counter(site_, static_cast<double>(value_->fetch_add(by) + by));
}

void Marker::mark(MarkerScope scope) { recorder_->instant(sites_[static_cast<std::size_t>(scope)]); }

Domain::Domain(MxnetProfiler& profiler, std::string name) : profiler_(&profiler), name_(std::move(name)) {}

Span Domain::span(std::string_view name, std::string_view object, const std::string& category) const {
  Profiler& recorder = profiler_->state_->recorder;
  return {recorder, recorder.siteWithArguments(name, EventKind::scope,
                                               objectMembers(std::string(object), category, 'p'))};
}

Counter Domain::newCounter(std::string_view name, std::int64_t value) const {
  MxnetProfiler::State& s = *profiler_->state_;
  const std::string track = name_ + ": " + std::string(name);
  {
    const ScopedLock lock(s.mutex);
    s.counter_names[track] = {name_, std::string(name)};
  }
  Counter counter(s.recorder, s.recorder.site(track, EventKind::scope));
  if (value != 0) counter.setValue(value);
  return counter;
}

Marker Domain::newMarker(std::string_view name) const {
  Profiler& recorder = profiler_->state_->recorder;
  const std::string category = name_ + ",instant_marker";
  SiteId sites[3];
  for (std::size_t i = 0; i < 3; ++i)
    sites[i] =
        recorder.siteWithArguments(name, EventKind::instant, objectMembers("marker", category, "gpt"[i]));
  return {recorder, sites};
}

Event newEvent(MxnetProfiler& profiler, std::string_view name) {
  return Domain(profiler, "event").span(name, "event", "event");
}

CustomOperator::CustomOperator(MxnetProfiler& profiler, std::string_view type, Pass pass)
    : span_(Domain(profiler, "Custom Operator")
                .span((pass == Pass::backward ? "_backward_" : "") + std::string(type) + "::pure_python",
                      "task", "Custom Operator")),
      outer_prefix_(Profiler::setOperatorPrefix(std::string(type))) {
  span_.start();
}

CustomOperator::~CustomOperator() {
  span_.stop();
  (void)Profiler::setOperatorPrefix(outer_prefix_);
}

}  // namespace pitwall::mxnet
