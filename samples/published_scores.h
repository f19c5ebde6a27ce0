// What MXNet's performance page publishes: images per second of MXNet 1.2.0.rc1 on machines of AWS EC2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace published {

inline constexpr std::string_view kNetworks[] = {"alexnet",      "vgg-16",    "inception-bn",
                                                 "inception-v3", "resnet-50", "resnet-152"};
inline constexpr std::int64_t kBatches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

struct Machine {
  std::string_view name;
  unsigned processors;  // virtual; 0: a GPU
  double images_per_second[9]
                          [6];  // of inference: by batch, then by network; 0: not published, or out of memory
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
    {"K80",
     0,
     {{243.93, 43.59, 68.62, 35.52, 67.41, 23.65},
      {338.16, 49.14, 113.41, 56.29, 93.35, 33.88},
      {478.92, 53.44, 159.61, 74.43, 119.18, 45.23},
      {683.52, 70.5, 190.49, 86.23, 131.32, 50.54},
      {1004.66, 109.01, 254.2, 105.7, 155.4, 62.55},
      {1238.55, 114.98, 285.49, 116.79, 159.42, 64.99},
      {1346.72, 123.56, 308.73, 122.21, 167.58, 70.21},
      {1416.91, 0, 320.98, 123.11, 171.55, 71.85},
      {1462.97, 0, 329.16, 127.53, 153.01, 57.23}}},
    {"M60",
     0,
     {{243.49, 59.95, 101.97, 48.3, 95.46, 39.29},
      {491.04, 69.14, 170.35, 80.27, 142.61, 60.17},
      {711.54, 78.94, 257.89, 123.09, 182.36, 76.51},
      {1077.73, 109.34, 343.42, 152.82, 208.74, 87.27},
      {1447.21, 144.93, 390.25, 166.32, 220.73, 92.41},
      {1797.66, 151.86, 416.69, 176.56, 230.19, 97.03},
      {1779.38, 150.18, 427.51, 183.47, 239.12, 101.59},
      {1787.36, 0, 439.04, 185.29, 243.31, 103.39},
      {1899.1, 0, 450.22, 183.42, 242.36, 100.98}}},
    {"V100",
     0,
     {{659.51, 205.16, 157.37, 87.71, 162.15, 61.38},
      {1248.21, 265.4, 297.34, 159.24, 293.74, 116.3},
      {2122.41, 333.97, 520.91, 279.84, 479.14, 195.17},
      {3894.3, 420.26, 898.09, 455.03, 699.39, 294.19},
      {5815.58, 654.16, 1430.97, 672.54, 947.45, 398.79},
      {7906.09, 708.43, 1847.26, 814.59, 1076.81, 451.82},
      {9486.26, 701.59, 2134.89, 899.01, 1168.37, 480.44},
      {10177.8, 703.3, 2318.32, 904.33, 1233.15, 511.79},
      {10990.5, 473.62, 2425.28, 960.2, 1155.07, 449.35}}},
};

// The smallest with at least so many processors, else the largest.
inline const Machine& machineFor(unsigned processors) {
  const Machine* best = &kMachines[0];
  for (const Machine& machine : kMachines) {
    if (machine.processors != 0 && machine.processors >= processors) best = &machine;
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
      const double found = machine.images_per_second[b][n];
      if (kBatches[b] == batch && kNetworks[n] == network && found != 0) return found;
    }
  }
  return std::nullopt;
}

// Of training, by batch, on K80, M60 and V100; 0: not published, or out of memory. AlexNet's batches are 16 times as large.
struct Training {
  std::string_view network;
  std::int64_t batch;
  double k80, m60, v100;
};

inline constexpr Training kTraining[] = {
    {"alexnet", 16, 300.3, 380.96, 1629.52},    {"alexnet", 32, 406.08, 530.53, 2359.73},
    {"alexnet", 64, 461.01, 600.17, 2687.89},   {"alexnet", 128, 484, 633.6, 2919.02},
    {"alexnet", 256, 490.45, 639.37, 2994.32},  {"alexnet", 512, 414.72, 576.54, 2585.61},
    {"alexnet", 1024, 0, 0, 1984.21},           {"inception-v3", 1, 10.48, 14.06, 21.83},
    {"inception-v3", 2, 16, 21.9, 40.11},       {"inception-v3", 4, 22.1, 31.96, 72.79},
    {"inception-v3", 8, 26.8, 40.58, 118.43},   {"inception-v3", 16, 31.62, 46.88, 173.15},
    {"inception-v3", 32, 33.78, 50.05, 214.48}, {"inception-v3", 64, 0, 0, 247.43},
    {"inception-v3", 128, 0, 0, 253.68},        {"resnet-50", 1, 15.61, 20.55, 34.54},
    {"resnet-50", 2, 23.88, 32.65, 65.01},      {"resnet-50", 4, 32.26, 45.57, 113.49},
    {"resnet-50", 8, 39.42, 54.92, 174.81},     {"resnet-50", 16, 46.69, 64.44, 251.22},
    {"resnet-50", 32, 49.48, 68.34, 298.51},    {"resnet-50", 64, 0, 0, 343.19},
    {"resnet-50", 128, 0, 0, 363.69},
};

// nullptr when the page has no row for it.
inline const Training* findTraining(std::string_view network, std::int64_t batch) {
  for (const Training& row : kTraining) {
    if (row.network == network && row.batch == batch) return &row;
  }
  return nullptr;
}

}  // namespace published
