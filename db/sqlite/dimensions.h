// The dimension tables of an open trace, in memory. Read once at open.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

struct Dimensions {
  std::vector<std::string> strings;  // index = StringId.value - 1
  std::unordered_map<std::string, std::string> meta;
  std::vector<OperatorFacts> facts;
  std::vector<KernelFacts> kernels;
  std::vector<FrameInfo> frames;
  std::vector<StackInfo> stacks;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<DeviceInfo> devices;
  std::vector<TrackInfo> tracks;
  std::vector<IterationMark> iterations;
  std::vector<SettingInEffect> settings;
  std::vector<TunableInEffect> tunables;
  std::vector<Loss> losses;
};

// Errors: corruptTrace when a table is missing, an id is out of order or a word unknown; io.
Result<Dimensions> loadDimensions(Connection& connection);

}  // namespace pitwall::store
