// The rows that a producer has passed to the sink since the last write: the only data shared between the two
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/event.h"
#include "db/sqlite/event_blocks.h"

namespace pitwall::store {

struct Batch {
  // New dimension rows; ids continue from those of earlier batches.
  std::vector<std::string> strings;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<DeviceInfo> devices;
  std::vector<TrackInfo> tracks;
  std::vector<OperatorFacts> facts;
  std::vector<KernelFacts> kernels;
  std::vector<FrameInfo> frames;
  std::vector<StackInfo> stacks;

  std::vector<std::pair<std::string, std::string>> meta;
  std::vector<SettingInEffect> settings;
  std::vector<TunableInEffect> tunables;
  std::vector<IterationMark> iterations;
  std::vector<Loss> losses;

  std::vector<EventBlocks> events;  // by track, index = TrackId.value - 1
  std::vector<EventBlock> spare_blocks;
  std::vector<std::vector<CounterSample>> counters;  // by track
  std::vector<Dependency> dependencies;

  std::size_t rows = 0;  // of all kinds
  std::size_t events_in_all = 0;

  bool empty() const { return rows == 0; }

  // Clears it but keeps the memory.
  void clear() {
    strings.clear();
    processes.clear();
    threads.clear();
    devices.clear();
    tracks.clear();
    facts.clear();
    kernels.clear();
    frames.clear();
    stacks.clear();
    meta.clear();
    settings.clear();
    tunables.clear();
    iterations.clear();
    losses.clear();
    for (auto& of_track : events) of_track.clear(spare_blocks);
    for (auto& of_track : counters) of_track.clear();
    dependencies.clear();
    rows = 0;
    events_in_all = 0;
  }
};

}  // namespace pitwall::store
