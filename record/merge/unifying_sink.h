// A TraceSink before another one, for parts of one recording: what two parts say of the same process (by its
// id), thread or device becomes one row, named as the first part did. What knows no process, as oneDNN's log,
// belongs to the first process. Facts (meta) that only a later part tells are the trace's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "db/sink.h"

namespace pitwall::record {

class UnifyingSink : public TraceSink {
 public:
  // The first part tells of `first_part` processes, each of them one of its own.
  UnifyingSink(TraceSink& inner, std::size_t first_part) : inner_(inner), first_part_(first_part) {}

  ProcessId process(const ProcessInfo& info) override;
  ThreadId thread(const ThreadInfo& info) override;
  DeviceId device(const DeviceInfo& info) override;

  StringId string(std::string_view text) override { return inner_.string(text); }
  TrackId track(const TrackInfo& info) override { return inner_.track(info); }
  OperatorId operatorFacts(const OperatorFacts& facts) override { return inner_.operatorFacts(facts); }
  KernelId kernelFacts(const KernelFacts& facts) override { return inner_.kernelFacts(facts); }
  void meta(std::string_view key, std::string_view value) override;
  void setting(const SettingInEffect& setting) override { inner_.setting(setting); }
  void tunable(const TunableInEffect& tunable) override { inner_.tunable(tunable); }
  void iteration(const IterationMark& mark) override { inner_.iteration(mark); }
  void loss(const Loss& loss) override { inner_.loss(loss); }
  void events(TrackId track, std::span<const Event> events) override { inner_.events(track, events); }
  void dependencies(std::span<const Dependency> edges) override { inner_.dependencies(edges); }
  void counters(TrackId track, std::span<const CounterSample> samples) override {
    inner_.counters(track, samples);
  }
  Status flush() override { return inner_.flush(); }
  Status finish() override { return inner_.finish(); }

 private:
  TraceSink& inner_;
  std::size_t first_part_;
  std::size_t told_ = 0;  // processes so far
  ProcessId first_;
  // The last of one id: an exec makes another program of the same process, and later parts tell of that one.
  std::map<std::int64_t, ProcessId> processes_;
  std::map<std::pair<std::uint32_t, std::int64_t>, ThreadId> threads_;
  std::map<std::pair<std::string, int>, DeviceId> devices_;
  std::set<std::string, std::less<>> facts_;  // keys told so far
};

}  // namespace pitwall::record
