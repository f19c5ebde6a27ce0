// What the sampled stacks of an import say, for tests of several formats.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/db/import/imported.h"

namespace pitwall::test {

// A stack's functions, outermost first, separated by ';'.
inline std::string stackText(const Imported& imported, double stack) {
  std::string text;
  for (auto id = static_cast<std::uint32_t>(stack); id != 0;
       id = imported.sink.stacks.at(id - 1).caller.value) {
    const FrameInfo& frame = imported.sink.frames.at(imported.sink.stacks.at(id - 1).frame.value - 1);
    text = frame.function + (text.empty() ? "" : ";" + text);
  }
  return text;
}

struct SampledThread {
  std::int64_t known_ns = 0;                  // the time in which the thread's stack is known
  std::int64_t samples = 0;                   // with a stack
  std::map<std::string, std::int64_t> times;  // by stack, ns
};

// By the thread's name. Each sample counts until the next one of its thread.
inline std::map<std::string, SampledThread> sampledThreads(const Imported& imported) {
  std::map<std::uint32_t, std::vector<CounterSample>> tracks;
  for (const auto& [track, sample] : imported.sink.all_counters) {
    if (imported.track(track).unit == kStackUnit) tracks[track.value].push_back(sample);
  }
  std::map<std::string, SampledThread> threads;
  for (const auto& [track, samples] : tracks) {
    const TrackInfo& info = imported.track(TrackId{track});
    SampledThread& thread = threads[imported.sink.threads.at(info.thread.value - 1).name];
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      EXPECT_LE(samples[i].time_ns, samples[i + 1].time_ns);
      if (samples[i].value == 0) continue;
      const std::int64_t length = samples[i + 1].time_ns - samples[i].time_ns;
      thread.known_ns += length;
      ++thread.samples;
      thread.times[stackText(imported, samples[i].value)] += length;
    }
    EXPECT_EQ(samples.back().value, 0) << "the end of the last sample is known";
  }
  return threads;
}

}  // namespace pitwall::test
