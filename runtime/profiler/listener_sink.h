// Passes the data of a recording's sink to a RecordingListener too (runtime/profiler.h).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/forwarding_sink.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

// Forwards all calls, but each device once: the first to name it gives its properties. Stores the names of ids for a
// listener that is set later.
class ListenerSink : public ForwardingSink, private RecordingListener::Names {
 public:
  explicit ListenerSink(std::unique_ptr<TraceSink> next) : ForwardingSink(*next), owned_(std::move(next)) {}

  // Between the sink's calls. nullptr = no listener.
  void setListener(RecordingListener* listener) { listener_ = listener; }

  StringId string(std::string_view text) override;
  ThreadId thread(const ThreadInfo& thread) override;
  DeviceId device(const DeviceInfo& device) override;
  TrackId track(const TrackInfo& track) override;
  OperatorId operatorFacts(const OperatorFacts& facts) override;
  void events(TrackId track, std::span<const Event> events) override;
  void counters(TrackId track, std::span<const CounterSample> samples) override;
  Status flush() override;

 private:
  const std::string& text(StringId id) const override;
  const OperatorFacts& facts(OperatorId id) const override;
  const TrackInfo& trackInfo(TrackId id) const override;
  std::int64_t threadOf(TrackId id) const override;

  const std::unique_ptr<TraceSink> owned_;
  RecordingListener* listener_ = nullptr;
  std::map<std::pair<std::string, int>, DeviceId> devices_;  // by kind and index
  std::vector<std::string> strings_;
  std::vector<OperatorFacts> facts_;
  std::vector<TrackInfo> tracks_;
  std::vector<std::int64_t> tids_;
};

// Discards all data: for a recording with only a listener.
std::unique_ptr<TraceSink> discardingSink();

}  // namespace pitwall::profiler
