// Separate stages of an import, for import_bench.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/sink.h"

namespace pitwall::bench {

// Parses every event of a Chrome JSON file (fields, arguments, times as numbers) without keeping it. Returns
// their number.
std::int64_t parseAlone(const std::string& path);

// Steps through the calls and kernels of a database with the columns that an import needs, with or without
// fetching the values. Returns the number of rows.
enum class Fetch { no, yes };
std::int64_t stepThroughNsight(const std::string& path, Fetch fetch);

// A sink that assigns ids and drops everything.
class NoSink : public TraceSink {
 public:
  StringId string(std::string_view) override { return {++strings_}; }
  ProcessId process(const ProcessInfo&) override { return {++others_}; }
  ThreadId thread(const ThreadInfo&) override { return {++others_}; }
  DeviceId device(const DeviceInfo&) override { return {++others_}; }
  TrackId track(const TrackInfo&) override { return {++others_}; }
  OperatorId operatorFacts(const OperatorFacts&) override { return {++others_}; }
  KernelId kernelFacts(const KernelFacts&) override { return {++others_}; }
  FrameId frame(const FrameInfo&) override { return {++others_}; }
  StackId stack(const StackInfo&) override { return {++others_}; }
  void meta(std::string_view, std::string_view) override {}
  void setting(const SettingInEffect&) override {}
  void tunable(const TunableInEffect&) override {}
  void iteration(const IterationMark&) override {}
  void loss(const Loss&) override {}
  void events(TrackId, std::span<const Event>) override {}
  void dependencies(std::span<const Dependency>) override {}
  void counters(TrackId, std::span<const CounterSample>) override {}
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  std::uint32_t strings_ = 0;
  std::uint32_t others_ = 0;
};

}  // namespace pitwall::bench
