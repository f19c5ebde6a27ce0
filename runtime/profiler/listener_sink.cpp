#include "runtime/profiler/listener_sink.h"

#include <map>
#include <unordered_map>

#include "runtime/profiler/identities.h"

namespace pitwall::profiler {

namespace {

// rows[id - 1] = row; ids may repeat.
template <class IdType, class Row>
void remember(std::vector<Row>& rows, IdType id, const Row& row) {
  if (id.value > rows.size()) rows.resize(id.value);
  if (id.value != 0) rows[id.value - 1] = row;
}

template <class IdType, class Row>
const Row& recall(const std::vector<Row>& rows, IdType id) {
  static const Row none{};
  return id.value == 0 || id.value > rows.size() ? none : rows[id.value - 1];
}

class DiscardingSink : public TraceSink {
 public:
  StringId string(std::string_view text) override {
    const auto [entry, fresh] = strings_.try_emplace(std::string(text));
    if (fresh) entry->second = StringId{static_cast<std::uint32_t>(strings_.size())};
    return entry->second;
  }
  ProcessId process(const ProcessInfo&) override { return ProcessId{++processes_}; }
  ThreadId thread(const ThreadInfo&) override { return ThreadId{++threads_}; }
  DeviceId device(const DeviceInfo&) override { return DeviceId{++devices_}; }
  TrackId track(const TrackInfo&) override { return TrackId{++tracks_}; }
  OperatorId operatorFacts(const OperatorFacts& facts) override {
    const auto [entry, fresh] = facts_.try_emplace(facts);
    if (fresh) entry->second = OperatorId{static_cast<std::uint32_t>(facts_.size())};
    return entry->second;
  }
  KernelId kernelFacts(const KernelFacts&) override { return KernelId{++kernels_}; }
  FrameId frame(const FrameInfo&) override { return FrameId{++frames_}; }
  StackId stack(const StackInfo&) override { return StackId{++stacks_}; }
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
  std::map<std::string, StringId> strings_;
  std::unordered_map<OperatorFacts, OperatorId, FactsHash> facts_;
  std::uint32_t processes_ = 0, threads_ = 0, devices_ = 0, tracks_ = 0, kernels_ = 0, frames_ = 0,
                stacks_ = 0;
};

}  // namespace

StringId ListenerSink::string(std::string_view text) {
  const StringId id = ForwardingSink::string(text);
  if (id.value > strings_.size() || strings_[id.value - 1].empty()) remember(strings_, id, std::string(text));
  return id;
}

ThreadId ListenerSink::thread(const ThreadInfo& thread) {
  const ThreadId id = ForwardingSink::thread(thread);
  remember(tids_, id, thread.tid);
  return id;
}

DeviceId ListenerSink::device(const DeviceInfo& device) {
  const auto [known, fresh] = devices_.try_emplace({device.kind, device.index});
  if (fresh) known->second = ForwardingSink::device(device);
  return known->second;
}

TrackId ListenerSink::track(const TrackInfo& track) {
  const TrackId id = ForwardingSink::track(track);
  remember(tracks_, id, track);
  return id;
}

OperatorId ListenerSink::operatorFacts(const OperatorFacts& facts) {
  const OperatorId id = ForwardingSink::operatorFacts(facts);
  remember(facts_, id, facts);
  return id;
}

void ListenerSink::events(TrackId track, std::span<const Event> events) {
  ForwardingSink::events(track, events);
  if (listener_ != nullptr) listener_->events(*this, track, events);
}

void ListenerSink::counters(TrackId track, std::span<const CounterSample> samples) {
  ForwardingSink::counters(track, samples);
  if (listener_ != nullptr) listener_->counters(*this, track, samples);
}

Status ListenerSink::flush() {
  if (listener_ != nullptr) listener_->drained();
  return ForwardingSink::flush();
}

const std::string& ListenerSink::text(StringId id) const { return recall(strings_, id); }
const OperatorFacts& ListenerSink::facts(OperatorId id) const { return recall(facts_, id); }
const TrackInfo& ListenerSink::trackInfo(TrackId id) const { return recall(tracks_, id); }
std::int64_t ListenerSink::threadOf(TrackId id) const { return recall(tids_, trackInfo(id).thread); }

std::unique_ptr<TraceSink> discardingSink() { return std::make_unique<DiscardingSink>(); }

}  // namespace pitwall::profiler
