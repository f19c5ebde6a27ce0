// Lets somebody listen to what a recording's sink is given (runtime/profiler.h, RecordingTap).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/sink.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

// Passes everything on; remembers what the numbers stand for, for a tap that comes later.
class TapSink : public TraceSink, private RecordingTap::Names {
 public:
  explicit TapSink(std::unique_ptr<TraceSink> next) : next_(std::move(next)) {}

  // Between the sink's calls. nullptr: nobody.
  void setTap(RecordingTap* tap) { tap_ = tap; }

  StringId string(std::string_view text) override;
  ProcessId process(const ProcessInfo& process) override { return next_->process(process); }
  ThreadId thread(const ThreadInfo& thread) override;
  DeviceId device(const DeviceInfo& device) override { return next_->device(device); }
  TrackId track(const TrackInfo& track) override;
  OperatorId operatorFacts(const OperatorFacts& facts) override;
  KernelId kernelFacts(const KernelFacts& facts) override { return next_->kernelFacts(facts); }
  void meta(std::string_view key, std::string_view value) override { next_->meta(key, value); }
  void setting(const SettingInEffect& setting) override { next_->setting(setting); }
  void tunable(const TunableInEffect& tunable) override { next_->tunable(tunable); }
  void iteration(const IterationMark& mark) override { next_->iteration(mark); }
  void loss(const Loss& loss) override { next_->loss(loss); }
  void events(TrackId track, std::span<const Event> events) override;
  void dependencies(std::span<const Dependency> dependencies) override { next_->dependencies(dependencies); }
  void counters(TrackId track, std::span<const CounterSample> samples) override;
  Status flush() override;
  Status finish() override { return next_->finish(); }

 private:
  const std::string& text(StringId id) const override;
  const OperatorFacts& facts(OperatorId id) const override;
  const TrackInfo& trackInfo(TrackId id) const override;
  std::int64_t threadOf(TrackId id) const override;

  const std::unique_ptr<TraceSink> next_;
  RecordingTap* tap_ = nullptr;
  std::vector<std::string> strings_;
  std::vector<OperatorFacts> facts_;
  std::vector<TrackInfo> tracks_;
  std::vector<std::int64_t> tids_;
};

// Takes everything and keeps nothing: a recording for a tap alone.
std::unique_ptr<TraceSink> discardingSink();

}  // namespace pitwall::profiler
