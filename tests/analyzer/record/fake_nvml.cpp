// Replaces the driver's library: two GPUs, the second of which reports no power, like some real ones.
#include <cstring>

namespace {
char gpus[2];
bool isSecond(void* device) { return device == &gpus[1]; }
}  // namespace

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "an error"; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return *device = &gpus[index], 0; }
int nvmlDeviceGetName(void*, char* name, unsigned size) { return std::strncpy(name, "Some GPU", size), 0; }
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  total_free_used[0] = 80ull << 30;
  total_free_used[2] = isSecond(device) ? 2ull << 30 : 1ull << 30;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_memory) {
  return gpu_memory[0] = 75, gpu_memory[1] = 5, 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) { return *mhz = type == 1 ? 1980 : 0, 0; }
// The first has two links of version 4.0 that are up; the second has none and sits in a slot of generation 5.
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* active) {
  *active = link < 2;
  return isSecond(device) || link >= 4 ? 3 : 0;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) { return *version = 6, 0; }
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) { return *generation = 5, 0; }
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) { return *lanes = 16, 0; }
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 350500;
  return isSecond(device) ? 3 : 0;  // not supported
}
}
