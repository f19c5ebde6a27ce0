// A TraceSink that forwards every call to another sink: a base class for sinks that change some of the calls.
#pragma once

#include <span>
#include <string_view>

#include "db/mutex.h"
#include "db/sink.h"

namespace pitwall {

class ForwardingSink : public TraceSink {
 public:
  // `next` must outlive the sink; `guard`, if any, is held while it is called.
  explicit ForwardingSink(TraceSink& next, Mutex* guard = nullptr) : next_(next), guard_(guard) {}

  StringId string(std::string_view text) override {
    const Held held(guard_);
    return next_.string(text);
  }
  ProcessId process(const ProcessInfo& process) override {
    const Held held(guard_);
    return next_.process(process);
  }
  ThreadId thread(const ThreadInfo& thread) override {
    const Held held(guard_);
    return next_.thread(thread);
  }
  DeviceId device(const DeviceInfo& device) override {
    const Held held(guard_);
    return next_.device(device);
  }
  TrackId track(const TrackInfo& track) override {
    const Held held(guard_);
    return next_.track(track);
  }
  OperatorId operatorFacts(const OperatorFacts& facts) override {
    const Held held(guard_);
    return next_.operatorFacts(facts);
  }
  KernelId kernelFacts(const KernelFacts& facts) override {
    const Held held(guard_);
    return next_.kernelFacts(facts);
  }
  FrameId frame(const FrameInfo& frame) override {
    const Held held(guard_);
    return next_.frame(frame);
  }
  StackId stack(const StackInfo& stack) override {
    const Held held(guard_);
    return next_.stack(stack);
  }
  void meta(std::string_view key, std::string_view value) override {
    const Held held(guard_);
    next_.meta(key, value);
  }
  void setting(const SettingInEffect& setting) override {
    const Held held(guard_);
    next_.setting(setting);
  }
  void tunable(const TunableInEffect& tunable) override {
    const Held held(guard_);
    next_.tunable(tunable);
  }
  void iteration(const IterationMark& mark) override {
    const Held held(guard_);
    next_.iteration(mark);
  }
  void loss(const Loss& loss) override {
    const Held held(guard_);
    next_.loss(loss);
  }
  void events(TrackId track, std::span<const Event> events) override {
    const Held held(guard_);
    next_.events(track, events);
  }
  void dependencies(std::span<const Dependency> edges) override {
    const Held held(guard_);
    next_.dependencies(edges);
  }
  void counters(TrackId track, std::span<const CounterSample> samples) override {
    const Held held(guard_);
    next_.counters(track, samples);
  }
  Status flush() override {
    const Held held(guard_);
    return next_.flush();
  }
  Status finish() override {
    const Held held(guard_);
    return next_.finish();
  }

 protected:
  TraceSink& next() { return next_; }

 private:
  // Holds the mutex, if there is one.
  class Held {
   public:
    explicit Held(Mutex* guard) PITWALL_NO_THREAD_SAFETY_ANALYSIS : guard_(guard) {
      if (guard_ != nullptr) guard_->lock();
    }
    ~Held() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
      if (guard_ != nullptr) guard_->unlock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Mutex* const guard_;
  };

  TraceSink& next_;
  Mutex* const guard_;
};

}  // namespace pitwall
