// Samples NVIDIA GPUs through NVML, the driver's own library, opened at run time: no header and no link of it
// is needed, and a machine without it is told so in a sentence. Samples in a thread of its own, as a driver
// may take milliseconds to answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/event.h"
#include "record/sample/trace_clock.h"

namespace pitwall::record {

struct GpuSeries {
  std::string name, unit;  // "gpu utilisation", "share"
  std::vector<CounterSample> samples;
};

struct SampledGpu {
  DeviceInfo info;
  // To other devices, one direction, a second: of its NVLinks, else of its PCI Express slot; 0 = not told.
  double link_bytes_per_second = 0;
  std::vector<GpuSeries> series;
};

class GpuSampler {
 public:
  // Begins to sample, `hz` times a second at most (never more than 10). Without a driver library, or when it
  // refuses, it does nothing and note() says why. `library` is "libnvidia-ml.so.1" but in tests.
  GpuSampler(const TraceClock& clock, double hz, const std::string& library = "libnvidia-ml.so.1");
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  // The devices and what was sampled since the last call; the same devices and series each time.
  std::vector<SampledGpu> take();
  // A sentence when nothing is sampled; else empty.
  std::string note() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pitwall::record
