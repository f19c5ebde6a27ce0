#include "analyzer/analysis/setting_table.h"

#include <algorithm>
#include <map>

#include "analyzer/analysis/device_tables.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

// What the program is made of; this determines which settings it reads.
struct Program {
  std::string framework, blas;  // "mkl", "openblas", ...; empty = unknown
  std::string onednn_version;   // empty = unknown
  bool openmp = false, gnu = false, llvm = false, onednn = false, cuda = false, communicates = false,
       jemalloc = false;
  bool is_sampled = false;  // a program of this machine, which was recorded from outside
};

Program programOf(const Trace& trace) {
  Program program;
  program.framework = frameworkOf(trace);
  program.is_sampled = trace.meta(meta::kSampleHz).has_value();
  program.blas = trace.meta(meta::kBlas).value_or("");
  const std::string openmp = trace.meta(meta::kOpenMpRuntime).value_or("");
  program.gnu = openmp.find("libgomp") != std::string::npos;
  program.llvm = openmp.find("libomp") != std::string::npos || openmp.find("libiomp5") != std::string::npos;
  // A log of oneDNN says that it runs on OpenMP, but not which runtime: every one reads OMP_*.
  program.openmp = program.gnu || program.llvm || trace.meta("onednn.cpu_runtime").value_or("") == "OpenMP";
  program.onednn_version = trace.meta(meta::kOneDnnVersion).value_or("");
  const auto backend = trace.meta(meta::kBackend);
  program.onednn = trace.meta(meta::kOneDnnVersion).has_value() && backend.value_or("onednn") == "onednn";
  for (const auto& device : trace.devices()) program.cuda = program.cuda || device.kind == "gpu";
  program.communicates =
      program.cuda && (trace.devices().size() > 1 || trace.meta("distributed.world_size").has_value());
  for (const auto& setting : trace.settings()) {
    program.jemalloc = program.jemalloc ||
                       (setting.name == "LD_PRELOAD" && setting.value.find("jemalloc") != std::string::npos);
  }
  return program;
}

// Whether the program, or a library that it has loaded, reads settings of this owner. libiomp5 and libomp
// read the same KMP_* variables; all three read OMP_*. MXNet's own are read by every build of it; of
// Pitwall's runtime, which honours some of them; the trace says which.
bool readsSettingsOf(const Program& program, std::string_view owner) {
  if (owner == "openmp") return program.openmp;
  if (owner == "libgomp") return program.gnu;
  if (owner == "llvm-openmp") return program.llvm;
  if (owner == "onednn") return program.onednn;
  if (owner == "mxnet" || owner == "nnvm" || owner == "dmlc") return program.framework == "mxnet";
  if (owner == "pytorch") return program.framework == "pytorch";
  if (owner == "cuda") return program.cuda;
  if (owner == "nccl") return program.communicates;
  if (owner == "glibc")
    return program.is_sampled || (program.framework != "onednn" && program.framework != "unknown");
  if (owner == "jemalloc") return program.jemalloc;
  if (owner == "mkl" || owner == "openblas") return program.blas == owner;
  return false;
}

}  // namespace

std::vector<SettingState> settingStates(const Trace& trace) {
  std::map<std::string, SettingState> states;
  const Program program = programOf(trace);
  for (const auto& info : settingCatalogue()) {
    SettingState state{std::string(info.name), std::string(info.default_value), "default",
                       std::string(info.owner), toString(info.status)};
    const bool others = info.owner == "mxnet" || info.owner == "nnvm" || info.owner == "dmlc";
    state.readable = (others || info.status == SettingStatus::external) &&
                     readsSettingsOf(program, info.owner) &&
                     (info.owner != "onednn" || versionReads(info, program.onednn_version));
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
