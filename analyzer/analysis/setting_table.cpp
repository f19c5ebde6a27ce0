#include "analyzer/analysis/setting_table.h"

#include <algorithm>
#include <map>

#include "db/meta.h"

namespace pitwall::analysis {
namespace {

// Whether a library that the program has loaded reads settings of this owner. libiomp5 and libomp read the
// same KMP_* variables; all three read OMP_*.
bool ownerLoaded(const Trace& trace, std::string_view owner) {
  const std::string openmp = trace.meta(meta::kOpenMpRuntime).value_or("");
  const bool gnu = openmp.find("libgomp") != std::string::npos;
  const bool llvm =
      openmp.find("libomp") != std::string::npos || openmp.find("libiomp5") != std::string::npos;
  if (owner == "openmp") return gnu || llvm;
  if (owner == "libgomp") return gnu;
  if (owner == "llvm-openmp") return llvm;
  if (owner == "onednn") {
    return trace.meta(meta::kOneDnnVersion).has_value() &&
           trace.meta(meta::kBackend).value_or("") == "onednn";
  }
  return false;
}

}  // namespace

std::vector<SettingState> settingStates(const Trace& trace) {
  std::map<std::string, SettingState> states;
  for (const auto& info : settingCatalogue()) {
    SettingState state{std::string(info.name), std::string(info.default_value), "default",
                       std::string(info.owner), toString(info.status)};
    state.readable = info.status == SettingStatus::external && ownerLoaded(trace, info.owner);
    states[state.name] = state;
  }
  for (const auto& setting : trace.settings()) {
    auto& state = states[setting.name];
    state.name = setting.name;
    state.value = setting.value;
    state.source = toString(setting.source);
    state.in_trace = true;
    if (state.status == "honoured") state.readable = true;
  }
  std::vector<SettingState> result;
  for (auto& [name, state] : states) result.push_back(std::move(state));
  return result;
}

}  // namespace pitwall::analysis
