// A random but reproducible trace with all kinds of rows, which can be written to any sink.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/event.h"
#include "db/sink.h"

namespace pitwall::test {

struct RandomTraceOptions {
  std::uint64_t seed = 1;
  int tracks = 3;
  int events_per_track = 500;
  int dependencies = 400;
  int samples_per_counter = 100;
  bool extreme = false;  // values over the whole range of their types, else realistic ones
};

// Its ids are those that a new sink assigns when feed() is called.
struct RandomTrace {
  std::vector<std::string> strings;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<DeviceInfo> devices;
  std::vector<TrackInfo> tracks;  // event tracks first, then counters
  std::vector<OperatorFacts> facts;
  std::vector<KernelFacts> kernels;
  std::vector<FrameInfo> frames;
  std::vector<StackInfo> stacks;
  std::vector<std::pair<std::string, std::string>> meta;
  std::vector<SettingInEffect> settings;
  std::vector<TunableInEffect> tunables;
  std::vector<IterationMark> iterations;
  std::vector<Loss> losses;
  std::vector<std::vector<Event>> events;            // by track
  std::vector<std::vector<CounterSample>> counters;  // by track
  std::vector<Dependency> dependencies;
};

RandomTrace makeRandomTrace(const RandomTraceOptions& options);

// Writes all of it to the sink, events in portions, with a flush in between.
void feed(TraceSink& sink, const RandomTrace& trace);

// Every field equal; db/event.h has no such operator, since no program needs it.
bool same(const Event& a, const Event& b);
bool same(const Dependency& a, const Dependency& b);
std::string describe(const Event& event);

}  // namespace pitwall::test
