// What a producer has told the sink since the writer last looked: the one thing that passes between their
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
  // New dimension rows; ids count on from those of earlier batches.
  std::vector<std::string> strings;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<DeviceInfo> devices;
  std::vector<TrackInfo> tracks;
  std::vector<OperatorFacts> facts;
  std::vector<KernelFacts> kernels;

  std::vector<std::pair<std::string, std::string>> meta;
  std::vector<SettingInEffect> settings;
  std::vector<TunableInEffect> tunables;
  std::vector<IterationMark> iterations;
  std::vector<Loss> losses;

  std::vector<EventBlocks> events;  // by track, index = TrackId.value - 1
  std::vector<EventBlock> spare_blocks;
  std::vector<std::vector<CounterSample>> counters;  // likewise
  std::vector<Dependency> dependencies;

  std::size_t rows = 0;  // of all kinds
  std::size_t events_in_all = 0;

  bool empty() const { return rows == 0; }

  // Empties it but keeps the memory for the next use.
  void clear() {
    strings.clear();
    processes.clear();
    threads.clear();
    devices.clear();
    tracks.clear();
    facts.clear();
    kernels.clear();
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
