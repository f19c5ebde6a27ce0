// The devices that a program computes on: so many of the CPU, or GPUs by their numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "runtime/device.h"

namespace samples {

inline void addGpus(CLI::App& app, std::vector<int>& gpus) {
  app.add_option("--gpus", gpus, "compute on the GPUs of these numbers, such as 0,1 [on the CPU]")
      ->delimiter(',')
      ->check(CLI::Range(0, pitwall::kMaxDevices - 1));
}

// `cpus`: how many of the CPU, where no GPUs are given.
inline std::vector<pitwall::Device> devicesOf(const std::vector<int>& gpus, int cpus) {
  std::vector<pitwall::Device> devices;
  for (const int number : gpus) devices.push_back(pitwall::gpu(number));
  for (int i = 0; gpus.empty() && i < cpus; ++i) devices.push_back(pitwall::cpu(i));
  return devices;
}

}  // namespace samples
