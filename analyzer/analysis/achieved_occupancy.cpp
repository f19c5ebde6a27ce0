#include "analyzer/analysis/achieved_occupancy.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "db/torch_ranges.h"
#include "db/try.h"

namespace pitwall::analysis {

namespace {

struct CountedMean {
  double weighted = 0, weight = 0;
};

using CountedSamples = std::unordered_map<TimeNs, double>;

Status readSamples(Trace& trace, TrackId track, CountedSamples& samples) {
  return trace.visitCounters(track, [&](std::span<const CounterSample> some) {
    for (const CounterSample& sample : some) samples[sample.time_ns] = sample.value;
    return true;
  });
}

// Ranges are counted ones if a sample is at their start.
Status addRanges(Trace& trace, TrackId track, const CountedSamples& samples,
                 std::unordered_map<std::uint32_t, CountedMean>& means) {
  const EventSelection selection{.track = track, .fields = kStart | kDur | kName};
  return trace.eventColumns(selection, [&](const EventSpans& events) {
    for (std::size_t i = 0; i < events.size; ++i) {
      const auto sample = samples.find(events.start_ns[i]);
      if (sample == samples.end()) continue;
      CountedMean& mean = means[static_cast<std::uint32_t>(events.name[i])];
      const auto weight = static_cast<double>(std::max<TimeNs>(1, events.dur_ns[i]));
      mean.weighted += std::clamp(sample->second / 100, 0.0, 1.0) * weight;
      mean.weight += weight;
    }
    return true;
  });
}

}  // namespace

Result<std::unordered_map<std::uint32_t, double>> achievedOccupancy(Trace& trace, const DeviceTimes& device) {
  const auto tracks = trace.tracks();
  const std::string counter = device.name + ": " + std::string(kWarpsActive);
  std::map<ProcessId, CountedSamples> samples;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind != TrackKind::counter || tracks[t].name != counter) continue;
    PITWALL_TRY(readSamples(trace, TrackId{static_cast<std::uint32_t>(t + 1)}, samples[tracks[t].process]));
  }
  std::unordered_map<std::uint32_t, CountedMean> means;
  for (std::size_t t = 0; t < tracks.size() && !samples.empty(); ++t) {
    const TrackInfo& track = tracks[t];
    if (track.kind != TrackKind::stream || track.device != device.device) continue;
    const auto of_process = samples.find(track.process);
    if (of_process == samples.end() || !track.name.ends_with(kCountedRanges)) continue;
    PITWALL_TRY(addRanges(trace, TrackId{static_cast<std::uint32_t>(t + 1)}, of_process->second, means));
  }
  std::unordered_map<std::uint32_t, double> achieved;
  for (const auto& [name, mean] : means) achieved[name] = mean.weighted / mean.weight;
  return achieved;
}

}  // namespace pitwall::analysis
