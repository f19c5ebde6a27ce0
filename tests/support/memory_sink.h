// A TraceSink that keeps everything in vectors, for tests of trace producers.
//
// Follows the contract of db/sink.h: ids are dense and start at 1; equal strings and equal facts get equal
// ids; the last value of a meta key, setting or tunable wins; calls after finish() are ignored. fail()
// simulates a full disk: later calls are ignored and flush() and finish() return the failure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/sink.h"

namespace pitwall::test {

class MemorySink : public TraceSink {
 public:
  std::vector<std::string> strings;  // index = StringId.value - 1
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<DeviceInfo> devices;
  std::vector<TrackInfo> tracks;
  std::vector<OperatorFacts> facts;  // index = OperatorId.value - 1
  std::vector<KernelFacts> kernels;  // index = KernelId.value - 1
  std::vector<FrameInfo> frames;     // index = FrameId.value - 1
  std::vector<StackInfo> stacks;     // index = StackId.value - 1
  std::map<std::string, std::string, std::less<>> meta_values;
  std::map<std::string, SettingInEffect> settings;
  std::map<std::string, TunableInEffect> tunables;
  std::vector<IterationMark> iterations;
  std::vector<Loss> losses;
  std::vector<std::pair<TrackId, Event>> all_events;  // in the order of arrival
  std::vector<Dependency> all_dependencies;
  std::vector<std::pair<TrackId, CounterSample>> all_counters;
  int flushes = 0;
  bool finished = false;

  StringId string(std::string_view text) override {
    const auto found = string_ids_.find(text);
    if (found != string_ids_.end()) return found->second;
    const StringId id = append<StringId>(strings, std::string(text));
    string_ids_.emplace(std::string(text), id);
    return id;
  }
  ProcessId process(const ProcessInfo& info) override { return append<ProcessId>(processes, info); }
  ThreadId thread(const ThreadInfo& info) override { return append<ThreadId>(threads, info); }
  DeviceId device(const DeviceInfo& info) override { return append<DeviceId>(devices, info); }
  TrackId track(const TrackInfo& info) override { return append<TrackId>(tracks, info); }
  OperatorId operatorFacts(const OperatorFacts& info) override {
    std::vector<OperatorId>& alike = facts_ids_[info.name + info.shapes];
    for (const OperatorId id : alike) {
      if (facts[id.value - 1] == info) return id;
    }
    return alike.emplace_back(append<OperatorId>(facts, info));
  }
  KernelId kernelFacts(const KernelFacts& info) override { return same<KernelId>(kernels, info); }
  FrameId frame(const FrameInfo& info) override { return same<FrameId>(frames, info); }
  StackId stack(const StackInfo& info) override { return same<StackId>(stacks, info); }
  void meta(std::string_view key, std::string_view value) override {
    if (open()) meta_values.insert_or_assign(std::string(key), std::string(value));
  }
  void setting(const SettingInEffect& setting) override {
    if (open()) settings.insert_or_assign(setting.name, setting);
  }
  void tunable(const TunableInEffect& tunable) override {
    if (open()) tunables.insert_or_assign(tunable.name, tunable);
  }
  void iteration(const IterationMark& mark) override {
    if (open()) iterations.push_back(mark);
  }
  void loss(const Loss& loss) override {
    if (open()) losses.push_back(loss);
  }
  void events(TrackId track, std::span<const Event> events) override {
    if (!open()) return;
    for (const Event& event : events) all_events.emplace_back(track, event);
  }
  void dependencies(std::span<const Dependency> dependencies) override {
    if (open()) all_dependencies.insert(all_dependencies.end(), dependencies.begin(), dependencies.end());
  }
  void counters(TrackId track, std::span<const CounterSample> samples) override {
    if (!open()) return;
    for (const CounterSample& sample : samples) all_counters.emplace_back(track, sample);
  }
  Status flush() override {
    if (failure_) return pitwall::fail(*failure_);
    if (!finished) ++flushes;
    return {};
  }
  Status finish() override {
    finished = true;
    if (failure_) return pitwall::fail(*failure_);
    return {};
  }

  // From now on behaves as a sink whose disk is full. The first failure stays.
  void fail(ErrorCode code, std::string message) {
    if (!failure_) failure_ = Error{code, std::move(message)};
  }

  // Helpers for tests.
  std::string text(StringId id) const { return id ? strings.at(id.value - 1) : std::string(); }
  std::vector<Event> eventsOf(TrackId track) const {
    std::vector<Event> found;
    for (const auto& [at, event] : all_events) {
      if (at == track) found.push_back(event);
    }
    return found;
  }
  std::vector<Event> eventsOf(EventKind kind) const {
    std::vector<Event> found;
    for (const auto& entry : all_events) {
      if (entry.second.kind == kind) found.push_back(entry.second);
    }
    return found;
  }

 private:
  bool open() const { return !finished && !failure_; }

  template <class IdType, class Info>
  static IdType append(std::vector<Info>& rows, Info info) {
    rows.push_back(std::move(info));
    return IdType{static_cast<std::uint32_t>(rows.size())};
  }

  // Of an equal row, if there is one.
  template <class IdType, class Info>
  static IdType same(std::vector<Info>& rows, const Info& info) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == info) return IdType{static_cast<std::uint32_t>(i + 1)};
    }
    return append<IdType>(rows, info);
  }

  std::map<std::string, StringId, std::less<>> string_ids_;
  std::map<std::string, std::vector<OperatorId>> facts_ids_;  // of one name and shapes
  std::optional<Error> failure_;
};

}  // namespace pitwall::test
