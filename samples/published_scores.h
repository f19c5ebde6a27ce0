// What MXNet's performance page publishes: images per second of inference of MXNet 1.2.0.rc1 on machines of AWS EC2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace published {

inline constexpr std::string_view kNetworks[] = {"alexnet",      "vgg-16",    "inception-bn",
                                                 "inception-v3", "resnet-50", "resnet-152"};
inline constexpr std::int64_t kBatches[] = {1, 2, 4, 8, 16, 32};

struct Machine {
  std::string_view name;
  unsigned processors;             // virtual
  double images_per_second[6][6];  // by batch, then by network
};

inline constexpr Machine kMachines[] = {
    {"c5.18xlarge",
     72,
     {{390.53, 81.57, 124.13, 62.26, 76.22, 32.92},
      {596.45, 100.84, 206.58, 93.36, 119.55, 46.80},
      {710.77, 119.04, 275.55, 127.86, 148.62, 59.36},
      {921.40, 120.38, 380.82, 157.11, 167.95, 70.78},
      {1018.43, 115.30, 411.67, 168.71, 178.54, 75.13},
      {1290.31, 107.19, 483.34, 179.38, 193.47, 85.86}}},
    {"c5.9xlarge",
     36,
     {{257.77, 50.61, 130.99, 66.95, 75.38, 32.33},
      {410.60, 63.02, 195.14, 87.84, 102.67, 41.57},
      {462.59, 62.64, 263.15, 109.87, 127.15, 50.69},
      {573.79, 63.95, 309.99, 121.36, 140.84, 59.01},
      {709.47, 67.79, 350.19, 128.26, 147.41, 64.15},
      {831.46, 69.58, 354.91, 129.92, 149.18, 64.25}}},
    {"c5.4xlarge",
     16,
     {{214.15, 29.32, 114.97, 47.96, 61.01, 23.92},
      {310.04, 34.81, 150.09, 60.89, 71.16, 27.92},
      {330.69, 34.56, 186.63, 74.15, 86.86, 34.37},
      {378.88, 35.46, 204.89, 77.05, 91.10, 36.93},
      {424.00, 36.49, 211.55, 78.39, 91.23, 37.34},
      {481.95, 37.23, 213.71, 78.23, 91.68, 37.26}}},
    {"c5.2xlarge",
     8,
     {{131.01, 15.67, 78.75, 31.12, 37.30, 14.75},
      {182.29, 18.01, 98.59, 39.13, 45.98, 17.84},
      {189.31, 18.25, 110.26, 41.35, 49.21, 19.32},
      {211.75, 18.57, 115.46, 42.53, 49.98, 19.81},
      {236.06, 19.11, 117.18, 42.59, 50.20, 19.92},
      {261.13, 19.46, 116.20, 42.72, 49.95, 19.80}}},
    {"c5.xlarge",
     4,
     {{36.64, 3.93, 27.06, 10.09, 12.98, 5.06},
      {49.21, 4.49, 29.67, 10.80, 12.94, 5.14},
      {50.12, 4.50, 30.31, 10.83, 13.17, 5.19},
      {54.71, 4.58, 30.22, 10.89, 13.19, 5.20},
      {60.23, 4.70, 30.20, 10.91, 13.23, 5.19},
      {66.37, 4.76, 30.10, 10.90, 13.22, 5.15}}},
};

// The smallest with at least so many processors, else the largest.
inline const Machine& machineFor(unsigned processors) {
  const Machine* best = &kMachines[0];
  for (const Machine& machine : kMachines) {
    if (machine.processors >= processors) best = &machine;
  }
  return *best;
}

// nullptr when there is none of that name.
inline const Machine* findMachine(std::string_view name) {
  for (const Machine& machine : kMachines) {
    if (machine.name == name) return &machine;
  }
  return nullptr;
}

// Empty where the page has no row for it.
inline std::optional<double> imagesPerSecond(const Machine& machine, std::string_view network,
                                             std::int64_t batch) {
  for (std::size_t b = 0; b < std::size(kBatches); ++b) {
    for (std::size_t n = 0; n < std::size(kNetworks); ++n) {
      if (kBatches[b] == batch && kNetworks[n] == network) return machine.images_per_second[b][n];
    }
  }
  return std::nullopt;
}

}  // namespace published
