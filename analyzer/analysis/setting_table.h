// Which settings the recorded program reads, with the values in effect.
#pragma once

#include <string>
#include <vector>

#include "db/reader.h"
#include "db/settings.h"

namespace pitwall::analysis {

struct SettingState {
  std::string name, value, source, owner, status;
  bool in_trace = false;
  bool readable = false;
};

// Every setting of the catalogue, and those that only the trace knows; ordered by name.
std::vector<SettingState> settingStates(const Trace& trace);

}  // namespace pitwall::analysis
