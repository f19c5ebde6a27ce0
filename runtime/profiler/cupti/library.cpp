#include "runtime/profiler/cupti/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace pitwall::cupti {

namespace {

// Versions with the same major number keep the leading fields of their records.
constexpr int kMajor = CUPTI_API_VERSION / 10000;
constexpr int kCudaNeeded = kMajor * 1000;

std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// The CUDA version that the driver supports, 0 without a driver. Does not initialise it.
int driverServes() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

void* openCupti() {
  const std::string name = fmt::format("libcupti.so.{}", kMajor);
  // The program may have loaded one.
  if (void* const loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) return loaded;
  std::vector<std::string> folders = {""};
  if (const char* const home = std::getenv("CUDA_HOME")) {
    folders.push_back(std::string(home) + "/extras/CUPTI/lib64/");
    folders.push_back(std::string(home) + "/lib64/");
  }
  folders.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  for (const std::string& folder : folders) {
    if (void* const found = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return nullptr;
}

template <class F>
bool load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// The first missing function; nullptr = none.
const char* missing(void* library, Library& into) {
#define PITWALL_NEED(member, name) \
  if (!load(library, name, into.member)) return name
  PITWALL_NEED(getVersion, "cuptiGetVersion");
  PITWALL_NEED(getResultString, "cuptiGetResultString");
  PITWALL_NEED(getCallbackName, "cuptiGetCallbackName");
  PITWALL_NEED(subscribe, "cuptiSubscribe");
  PITWALL_NEED(unsubscribe, "cuptiUnsubscribe");
  PITWALL_NEED(enableDomain, "cuptiEnableDomain");
  PITWALL_NEED(enableCallback, "cuptiEnableCallback");
  PITWALL_NEED(activityEnable, "cuptiActivityEnable");
  PITWALL_NEED(activityDisable, "cuptiActivityDisable");
  PITWALL_NEED(configureUnifiedMemory, "cuptiActivityConfigureUnifiedMemoryCounter");
  PITWALL_NEED(registerCallbacks, "cuptiActivityRegisterCallbacks");
  PITWALL_NEED(registerTimestampCallback, "cuptiActivityRegisterTimestampCallback");
  PITWALL_NEED(setAttribute, "cuptiActivitySetAttribute");
  PITWALL_NEED(flushAll, "cuptiActivityFlushAll");
  PITWALL_NEED(flushPeriod, "cuptiActivityFlushPeriod");
  PITWALL_NEED(getNextRecord, "cuptiActivityGetNextRecord");
  PITWALL_NEED(getNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
  PITWALL_NEED(pushExternal, "cuptiActivityPushExternalCorrelationId");
  PITWALL_NEED(popExternal, "cuptiActivityPopExternalCorrelationId");
  PITWALL_NEED(setThreadIdType, "cuptiSetThreadIdType");
  PITWALL_NEED(finalize, "cuptiFinalize");
  PITWALL_NEED(getDeviceId, "cuptiGetDeviceId");
#undef PITWALL_NEED
  (void)load(library, "cuptiActivityEnableDriverApi", into.enableDriverApi);
  (void)load(library, "cuptiActivityEnableRuntimeApi", into.enableRuntimeApi);
  (void)load(library, "cuptiActivityEnableHWTrace", into.enableHwTrace);
  (void)load(library, "cuptiActivityEnableAllSyncRecords", into.enableAllSyncRecords);
  static CounterFunctions counters;
  if (loadCounterFunctions(library, counters)) into.counters = &counters;
  return nullptr;
}

Result<const Library*> open() {
  if (const std::string problem = driverProblem(driverServes(), kCudaNeeded); !problem.empty())
    return fail(ErrorCode::unsupported, problem);
  void* const handle = openCupti();
  if (handle == nullptr) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("GPU activity is not recorded: libcupti.so.{} was not found; install CUPTI of CUDA "
                    "{}, or name its folder in LD_LIBRARY_PATH",
                    kMajor, kMajor));
  }
  static Library library;
  if (const char* const name = missing(handle, library)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("GPU activity is not recorded: the CUPTI found has no {}; install that of CUDA {}.0 "
                    "or newer",
                    name, kMajor));
  }
  std::uint32_t version = 0;
  if (library.getVersion(&version) != CUPTI_SUCCESS || static_cast<int>(version) / 10000 != kMajor) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("GPU activity is not recorded: the CUPTI found has version {}, this build reads that "
                    "of CUDA {}",
                    version, kMajor));
  }
  return &library;
}

}  // namespace

std::string driverProblem(int served, int needed) {
  if (served == 0) {
    return "GPU activity is not recorded: this machine has no NVIDIA driver (or, in a container, it was not "
           "passed in); CPU and NVTX are recorded";
  }
  if (served / 1000 < needed / 1000) {
    return fmt::format(
        "GPU activity is not recorded: the NVIDIA driver supports CUDA {}, CUPTI needs {}; update "
        "the driver; CPU and NVTX are recorded",
        versionText(served), versionText(needed));
  }
  return "";
}

std::string reportedBy(const Library& library, CUptiResult result) {
  const char* text = nullptr;
  if (library.getResultString(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "no text";
  return fmt::format("CUPTI reports {} ({})", text, static_cast<int>(result));
}

Result<const Library*> openLibrary() {
  static const Result<const Library*> library = open();
  return library;
}

}  // namespace pitwall::cupti
