// The tables of the catalogue, one file per topic. A topic's table is sorted by name.
#pragma once

#include <array>
#include <span>

#include "db/settings.h"

namespace pitwall::settings {

std::span<const SettingInfo> engineSettings();         // scheduling: engine, pools, bulk
std::span<const SettingInfo> memorySettings();         // pools, memory planner, workspaces, recomputation
std::span<const SettingInfo> operatorSettings();       // how operators compute on the CPU
std::span<const SettingInfo> onednnOfMxnetSettings();  // MXNet's own switches for its oneDNN operators
std::span<const SettingInfo> gpuSettings();            // CUDA and cuDNN as MXNet uses them
std::span<const SettingInfo> kvstoreSettings();        // communication between devices and machines
std::span<const SettingInfo> frontendSettings();       // profiler, logs, Python, files
std::span<const SettingInfo> openmpSettings();         // OMP_*, GOMP_*, KMP_*
std::span<const SettingInfo> librarySettings();        // oneDNN, MKL, OpenBLAS, allocators
std::span<const SettingInfo> nvidiaSettings();         // CUDA_*, NCCL_*
std::span<const SettingInfo> pitwallSettings();        // PITWALL_*

// Sources of the settings, as named in the tables.
inline constexpr std::string_view kEnvVar = "MXNet 1.9.1, environment variables (env_var.md)";
inline constexpr std::string_view kPerf = "MXNet 1.9.1, performance tips (perf.md)";
inline constexpr std::string_view kCode = "MXNet 1.9.1, source code; not documented";
inline constexpr std::string_view kMaster = "MXNet 2.0 (never released), environment variables";
inline constexpr std::string_view kOpenMp = "OpenMP 5.0, environment variables";

}  // namespace pitwall::settings
