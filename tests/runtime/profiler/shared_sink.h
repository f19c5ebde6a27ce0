// A sink whose contents are available after the profiler has released it, and that can be blocked to simulate
// a slow disk.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "tests/support/memory_sink.h"

namespace pitwall::test {

struct Kept {
  MemorySink memory;

  // While held, the drain thread stays in its next flush().
  void hold() {
    const std::scoped_lock lock(mutex);
    held = true;
  }
  void letGo() {
    const std::scoped_lock lock(mutex);
    held = false;
    changed.notify_all();
  }
  // Until a drain is blocked in flush(), with its events already in `memory`.
  void awaitHeld() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return standing; });
  }

  // Until the next drain.
  void awaitDrain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return drains > 0; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  int drains = 0;         // guarded by mutex
  bool held = false;      // guarded by mutex
  bool standing = false;  // guarded by mutex
};

class SharedSink : public TraceSink {
 public:
  explicit SharedSink(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}
  StringId string(std::string_view text) override { return kept_->memory.string(text); }
  ProcessId process(const ProcessInfo& info) override { return kept_->memory.process(info); }
  ThreadId thread(const ThreadInfo& info) override { return kept_->memory.thread(info); }
  DeviceId device(const DeviceInfo& info) override { return kept_->memory.device(info); }
  TrackId track(const TrackInfo& info) override { return kept_->memory.track(info); }
  OperatorId operatorFacts(const OperatorFacts& facts) override { return kept_->memory.operatorFacts(facts); }
  KernelId kernelFacts(const KernelFacts& facts) override { return kept_->memory.kernelFacts(facts); }
  FrameId frame(const FrameInfo& frame) override { return kept_->memory.frame(frame); }
  StackId stack(const StackInfo& stack) override { return kept_->memory.stack(stack); }
  void meta(std::string_view key, std::string_view value) override { kept_->memory.meta(key, value); }
  void setting(const SettingInEffect& setting) override { kept_->memory.setting(setting); }
  void tunable(const TunableInEffect& tunable) override { kept_->memory.tunable(tunable); }
  void iteration(const IterationMark& mark) override { kept_->memory.iteration(mark); }
  void loss(const Loss& loss) override { kept_->memory.loss(loss); }
  void events(TrackId track, std::span<const Event> events) override { kept_->memory.events(track, events); }
  void dependencies(std::span<const Dependency> dependencies) override {
    kept_->memory.dependencies(dependencies);
  }
  void counters(TrackId track, std::span<const CounterSample> samples) override {
    kept_->memory.counters(track, samples);
  }
  Status flush() override {
    {
      std::unique_lock lock(kept_->mutex);
      kept_->standing = true;
      ++kept_->drains;
      kept_->changed.notify_all();
      kept_->changed.wait(lock, [this] { return !kept_->held; });
      kept_->standing = false;
    }
    return kept_->memory.flush();
  }
  Status finish() override { return kept_->memory.finish(); }

 private:
  std::shared_ptr<Kept> kept_;
};

}  // namespace pitwall::test
