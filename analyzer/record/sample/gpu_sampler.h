// Samples NVIDIA GPUs through NVML, the driver's own library, opened at run time: neither its headers nor
// linking is needed, and without it note() gives the reason. Samples in a separate thread, since a driver
// call may take milliseconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/record/sample/trace_clock.h"
#include "db/event.h"

namespace pitwall::record {

struct GpuSeries {
  std::string name, unit;  // "gpu utilisation", "share"
  std::vector<CounterSample> samples;
};

struct SampledGpu {
  DeviceInfo info;
  // Bytes per second to other devices, one direction: of its NVLinks, else of its PCI Express slot; 0 =
  // unknown.
  double link_bytes_per_second = 0;
  std::vector<GpuSeries> series;
};

class GpuSampler {
 public:
  // Begins to sample, `hz` times per second at most (never more than 10). Without a driver library, or when
  // its initialisation fails, it does nothing and note() gives the reason. `library` is "libnvidia-ml.so.1"
  // except in tests.
  GpuSampler(const TraceClock& clock, double hz, const std::string& library = "libnvidia-ml.so.1");
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // The devices and their samples since the last call; the same devices and series each time.
  std::vector<SampledGpu> take();
  // A sentence when nothing is sampled; else empty.
  std::string note() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::record
