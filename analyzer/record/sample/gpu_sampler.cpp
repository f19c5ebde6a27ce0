#include "analyzer/record/sample/gpu_sampler.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "db/mutex.h"

namespace pitwall::record {
namespace {

// Declarations of the few NVML functions that are used, following its documentation: all return 0 for
// success, a device is an opaque pointer. Their names end in the version of their parameters.
using Device = void*;
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;
};
constexpr unsigned kSmClock = 1;
constexpr unsigned kMostDevices = 64;

struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*byIndex)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;  // milliwatts
  // Drivers without these report no links.
  int (*linkState)(Device, unsigned, unsigned*) = nullptr;
  int (*linkVersion)(Device, unsigned, unsigned*) = nullptr;
  int (*pcieGeneration)(Device, unsigned*) = nullptr;
  int (*pcieWidth)(Device, unsigned*) = nullptr;

  template <class Function>
  static bool find(void* library, const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    return function != nullptr;
  }

  bool load(void* library) {
    find(library, "nvmlDeviceGetNvLinkState", linkState);
    find(library, "nvmlDeviceGetNvLinkVersion", linkVersion);
    find(library, "nvmlDeviceGetMaxPcieLinkGeneration", pcieGeneration);
    find(library, "nvmlDeviceGetMaxPcieLinkWidth", pcieWidth);
    return find(library, "nvmlInit_v2", init) && find(library, "nvmlShutdown", shutdown) &&
           find(library, "nvmlErrorString", error) && find(library, "nvmlDeviceGetCount_v2", count) &&
           find(library, "nvmlDeviceGetHandleByIndex_v2", byIndex) &&
           find(library, "nvmlDeviceGetName", name) && find(library, "nvmlDeviceGetMemoryInfo", memory) &&
           find(library, "nvmlDeviceGetUtilizationRates", utilization) &&
           find(library, "nvmlDeviceGetClockInfo", clock) && find(library, "nvmlDeviceGetPowerUsage", power);
  }
};

// One direction of one NVLink, bytes per second, by NVML's number of its version: 1.0, 2.0, 2.2, 3.0, 3.1,
// 4.0, 5.0.
double nvLinkRate(unsigned version) {
  constexpr std::array<double, 8> kRates = {0, 20e9, 25e9, 25e9, 25e9, 25e9, 25e9, 50e9};
  return version < kRates.size() ? kRates[version] : kRates.back();
}

// One lane of PCI Express after line coding, bytes per second, by generation.
double pcieLaneRate(unsigned generation) {
  constexpr std::array<double, 7> kRates = {0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
  return generation < kRates.size() ? kRates[generation] : kRates.back();
}

double linkRate(const Nvml& nvml, Device device) {
  constexpr unsigned kMostLinks = 18;
  double rate = 0;
  for (unsigned link = 0; nvml.linkState != nullptr && nvml.linkVersion != nullptr && link < kMostLinks;
       ++link) {
    unsigned active = 0, version = 0;
    if (nvml.linkState(device, link, &active) != 0 || active == 0) continue;
    if (nvml.linkVersion(device, link, &version) == 0) rate += nvLinkRate(version);
  }
  if (rate > 0) return rate;
  unsigned generation = 0, lanes = 0;
  if (nvml.pcieGeneration == nullptr || nvml.pcieWidth == nullptr) return 0;
  if (nvml.pcieGeneration(device, &generation) != 0 || nvml.pcieWidth(device, &lanes) != 0) return 0;
  return pcieLaneRate(generation) * lanes;
}

}  // namespace

struct GpuSampler::State {
  State(const TraceClock& trace_clock, double hz)
      : clock(trace_clock), interval(std::chrono::duration<double>(1 / hz)) {}

  void run(std::string library_name);
  std::string open(const std::string& library_name);
  void sampleAll();
  void sampleUntilStop(std::string why_not);  // samples nothing when it says why

  const TraceClock& clock;
  const std::chrono::duration<double> interval;
  Nvml nvml;
  void* library = nullptr;
  std::vector<Device> handles;

  Mutex mutex;
  ConditionVariable wake;
  bool stop PITWALL_GUARDED_BY(mutex) = false;
  std::vector<SampledGpu> gpus PITWALL_GUARDED_BY(mutex);
  std::string note PITWALL_GUARDED_BY(mutex);

  std::thread thread;
};

std::string GpuSampler::State::open(const std::string& library_name) {
  library = dlopen(library_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return "no GPU is sampled: there is no NVIDIA driver here (" + library_name + " is not found)";
  if (!nvml.load(library))
    return "no GPU is sampled: " + library_name + " lacks required functions; update the NVIDIA driver";
  if (const int code = nvml.init(); code != 0) {
    nvml.shutdown = nullptr;
    return "no GPU is sampled: the NVIDIA driver cannot be initialised: " + std::string(nvml.error(code));
  }
  unsigned count = 0;
  nvml.count(&count);
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    Device handle = nullptr;
    if (nvml.byIndex(i, &handle) != 0) continue;
    std::array<char, 128> name{};
    nvml.name(handle, name.data(), name.size() - 1);
    Memory memory{};
    nvml.memory(handle, &memory);
    SampledGpu gpu;
    gpu.info = {"gpu", static_cast<int>(i), name.data(), static_cast<Bytes>(memory.total)};
    gpu.link_bytes_per_second = linkRate(nvml, handle);
    gpu.series = {{"gpu utilisation", "share", {}},
                  {"gpu memory", "bytes", {}},
                  {"sm clock", "Hz", {}},
                  {"power", "W", {}}};
    handles.push_back(handle);
    const ScopedLock lock(mutex);
    gpus.push_back(std::move(gpu));
  }
  return handles.empty() ? "no GPU is sampled: the NVIDIA driver finds none" : "";
}

void GpuSampler::State::sampleAll() {
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Utilization utilization{};
    Memory memory{};
    unsigned mhz = 0, milliwatts = 0;
    const bool has_utilization = nvml.utilization(handles[i], &utilization) == 0;
    const bool has_memory = nvml.memory(handles[i], &memory) == 0;
    const bool has_clock = nvml.clock(handles[i], kSmClock, &mhz) == 0;
    const bool has_power = nvml.power(handles[i], &milliwatts) == 0;
    const TimeNs now = clock.now();
    const ScopedLock lock(mutex);
    auto& series = gpus[i].series;
    if (has_utilization) series[0].samples.push_back({now, utilization.gpu / 100.0});
    if (has_memory) series[1].samples.push_back({now, static_cast<double>(memory.used)});
    if (has_clock) series[2].samples.push_back({now, mhz * 1e6});
    if (has_power) series[3].samples.push_back({now, milliwatts / 1e3});
  }
}

void GpuSampler::State::sampleUntilStop(std::string why_not) {
  using Clock = std::chrono::steady_clock;
  const ScopedLock lock(mutex);
  note = std::move(why_not);
  while (!stop && note.empty()) {
    {
      const ScopedUnlock unlocked(mutex);
      sampleAll();
    }
    const auto next = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
    while (!stop && wake.waitUntil(mutex, next)) {
    }
  }
}

void GpuSampler::State::run(std::string library_name) {
  std::string why_not = open(library_name);
  sampleUntilStop(std::move(why_not));
  if (library != nullptr && nvml.shutdown != nullptr) nvml.shutdown();
}

GpuSampler::GpuSampler(const TraceClock& clock, double hz, const std::string& library)
    : state_(std::make_unique<State>(clock, std::clamp(hz, 0.1, 10.0))) {
  state_->thread = std::thread([this, library] { state_->run(library); });
}

GpuSampler::~GpuSampler() {
  {
    const ScopedLock lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notifyOne();
  state_->thread.join();
  if (state_->library != nullptr) dlclose(state_->library);
}

std::vector<SampledGpu> GpuSampler::take() {
  const ScopedLock lock(state_->mutex);
  std::vector<SampledGpu> taken = state_->gpus;
  for (SampledGpu& gpu : state_->gpus) {
    for (GpuSeries& series : gpu.series) series.samples.clear();
  }
  return taken;
}

std::string GpuSampler::note() const {
  const ScopedLock lock(state_->mutex);
  return state_->note;
}

}  // namespace pitwall::record
