// A TraceSink that forwards every call to another sink: a base class for sinks that change some of the calls.
#pragma once

#include <mutex>
#include <span>
#include <string_view>

#include "db/sink.h"

namespace pitwall {

class ForwardingSink : public TraceSink {
 public:
  // `next` must outlive the sink.
  explicit ForwardingSink(TraceSink& next) : next_(next) {}

  StringId string(std::string_view text) override {
    const auto held = enter();
    return next_.string(text);
  }
  ProcessId process(const ProcessInfo& process) override {
    const auto held = enter();
    return next_.process(process);
  }
  ThreadId thread(const ThreadInfo& thread) override {
    const auto held = enter();
    return next_.thread(thread);
  }
  DeviceId device(const DeviceInfo& device) override {
    const auto held = enter();
    return next_.device(device);
  }
  TrackId track(const TrackInfo& track) override {
    const auto held = enter();
    return next_.track(track);
  }
  OperatorId operatorFacts(const OperatorFacts& facts) override {
    const auto held = enter();
    return next_.operatorFacts(facts);
  }
  KernelId kernelFacts(const KernelFacts& facts) override {
    const auto held = enter();
    return next_.kernelFacts(facts);
  }
  void meta(std::string_view key, std::string_view value) override {
    const auto held = enter();
    next_.meta(key, value);
  }
  void setting(const SettingInEffect& setting) override {
    const auto held = enter();
    next_.setting(setting);
  }
  void tunable(const TunableInEffect& tunable) override {
    const auto held = enter();
    next_.tunable(tunable);
  }
  void iteration(const IterationMark& mark) override {
    const auto held = enter();
    next_.iteration(mark);
  }
  void loss(const Loss& loss) override {
    const auto held = enter();
    next_.loss(loss);
  }
  void events(TrackId track, std::span<const Event> events) override {
    const auto held = enter();
    next_.events(track, events);
  }
  void dependencies(std::span<const Dependency> edges) override {
    const auto held = enter();
    next_.dependencies(edges);
  }
  void counters(TrackId track, std::span<const CounterSample> samples) override {
    const auto held = enter();
    next_.counters(track, samples);
  }
  Status flush() override {
    const auto held = enter();
    return next_.flush();
  }
  Status finish() override {
    const auto held = enter();
    return next_.finish();
  }

 protected:
  // A lock that is held while the next sink is called; by default none.
  virtual std::unique_lock<std::mutex> enter() { return {}; }
  TraceSink& next() { return next_; }

 private:
  TraceSink& next_;
};

}  // namespace pitwall
