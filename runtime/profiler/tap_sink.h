// Lets somebody listen to what a recording's sink is given (runtime/profiler.h, RecordingTap).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/forwarding_sink.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

// Passes everything on; remembers what the numbers stand for, for a tap that comes later.
class TapSink : public ForwardingSink, private RecordingTap::Names {
 public:
  explicit TapSink(std::unique_ptr<TraceSink> next) : ForwardingSink(*next), owned_(std::move(next)) {}

  // Between the sink's calls. nullptr: nobody.
  void setTap(RecordingTap* tap) { tap_ = tap; }

  StringId string(std::string_view text) override;
  ThreadId thread(const ThreadInfo& thread) override;
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
  RecordingTap* tap_ = nullptr;
  std::vector<std::string> strings_;
  std::vector<OperatorFacts> facts_;
  std::vector<TrackInfo> tracks_;
  std::vector<std::int64_t> tids_;
};

// Takes everything and keeps nothing: a recording for a tap alone.
std::unique_ptr<TraceSink> discardingSink();

}  // namespace pitwall::profiler
