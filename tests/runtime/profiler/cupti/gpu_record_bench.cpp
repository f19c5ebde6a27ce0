// What recording GPUs costs the recorder, without a GPU: how many records of CUPTI, as a program that launches small
// kernels gives them, it turns into rows of a trace in a second of CPU time.
//
//   gpu_record_bench [--launches N] [--dir FOLDER]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/profiler/cupti/session.h"

namespace pitwall::bench {
namespace {

constexpr const char* kNames[] = {
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_copy_kernel_"
    "cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_EEvS4_RKT_EUliE_EEviT1_",
    "_Z4tinyPf", "ampere_sgemm_128x64_tn"};

struct Cupti {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
};
Cupti* cupti = nullptr;

std::size_t sizeOf(const CUpti_Activity& record) {
  return record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? sizeof(CUpti_ActivityKernel10)
                                                              : sizeof(CUpti_ActivityAPI);
}

cupti::Library library() {
  cupti::Library l;
  l.getResultString = [](CUptiResult, const char** text) { return *text = "", CUPTI_SUCCESS; };
  l.getCallbackName = [](CUpti_CallbackDomain, std::uint32_t, const char** name) {
    return *name = "cudaLaunchKernel_v7000", CUPTI_SUCCESS;
  };
  l.subscribe = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc, void*) {
    return *handle = nullptr, CUPTI_SUCCESS;
  };
  l.unsubscribe = [](CUpti_SubscriberHandle) { return CUPTI_SUCCESS; };
  l.enableDomain = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) { return CUPTI_SUCCESS; };
  l.activityEnable = l.activityDisable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  l.registerCallbacks = [](CUpti_BuffersCallbackRequestFunc request,
                           CUpti_BuffersCallbackCompleteFunc complete) {
    cupti->request = request, cupti->complete = complete;
    return CUPTI_SUCCESS;
  };
  l.registerTimestampCallback = [](CUpti_TimestampCallbackFunc) { return CUPTI_SUCCESS; };
  l.setAttribute = [](CUpti_ActivityAttribute, std::size_t*, void*) { return CUPTI_SUCCESS; };
  l.flushAll = l.flushPeriod = [](std::uint32_t) { return CUPTI_SUCCESS; };
  l.getNextRecord = [](std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    auto* const next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeOf(**record);
    if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    return *record = reinterpret_cast<CUpti_Activity*>(next), CUPTI_SUCCESS;
  };
  l.getNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* count) {
    return *count = 0, CUPTI_SUCCESS;
  };
  l.setThreadIdType = [](CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; };
  l.finalize = [] { return CUPTI_SUCCESS; };
  return l;
}

// Fills the buffers that the session gives with calls and kernels, and returns the number of launches.
class Program {
 public:
  int fill() {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0;
    cupti->request(&buffer, &size, &most);
    if (buffer == nullptr) return 0;
    std::size_t used = 0;
    int launches = 0;
    for (; used + sizeof(CUpti_ActivityAPI) + sizeof(CUpti_ActivityKernel10) <= size; ++launches) {
      const Ticks now = Profiler::now();
      CUpti_ActivityAPI call{};
      call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
      call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
      call.start = now - 20;
      call.end = now - 10;
      call.threadId = 1;
      call.correlationId = ++launched_;
      CUpti_ActivityKernel10 kernel{};
      kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      kernel.name = kNames[launched_ % 4];
      kernel.start = now - 8;
      kernel.end = now - 4;
      kernel.correlationId = launched_;
      kernel.streamId = 7;
      kernel.gridX = static_cast<std::int32_t>(launched_ % 7 + 1), kernel.gridY = kernel.gridZ = 1;
      kernel.blockX = 128, kernel.blockY = kernel.blockZ = 1;
      kernel.registersPerThread = 32;
      std::memcpy(buffer + used, &call, sizeof call);
      std::memcpy(buffer + used + sizeof call, &kernel, sizeof kernel);
      used += sizeof call + sizeof kernel;
    }
    cupti->complete(nullptr, 0, buffer, size, used);
    return launches;
  }

 private:
  std::uint32_t launched_ = 0;
};

double cpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int run(int launches, const std::string& folder) {
  const std::string path = folder + "/gpu_record_bench.pitwall";
  auto sink = createTrace(path);
  if (!sink.has_value()) return fmt::print(stderr, "{}\n", sink.error().message), 1;
  ProfilerOptions options;
  options.flush_interval_ms = 0;
  Profiler profiler(options);
  Cupti fake;
  cupti = &fake;
  const cupti::Library functions = library();
  if (!profiler.start(std::move(*sink)).has_value()) return 1;
  auto session = cupti::Session::open(functions, profiler);
  if (!session.has_value()) return 1;
  Program program;
  int done = 0;
  double drains = 0, least = 1e9;
  while (done < launches) {
    int some = 0;
    while (some < 30000) some += program.fill();
    const double start = cpuSeconds();
    (void)profiler.flush();
    const double took = cpuSeconds() - start;
    drains += took;
    least = std::min(least, took / some);
    done += some;
  }
  (void)(*session)->close();
  (void)profiler.stop();
  fmt::print(
      "{} launches: {:.0f} ns of CPU time each (least {:.0f}), {:.2f} M records a second, {:.1f} bytes a "
      "record\n",
      done, drains / done * 1e9, least * 1e9, 2 * done / drains * 1e-6,
      static_cast<double>(std::filesystem::file_size(path)) / (2.0 * done));
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace pitwall::bench

int main(int count, char** arguments) {
  int launches = 500'000;
  std::string folder = std::filesystem::temp_directory_path().string();
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--launches") launches = std::atoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--dir") folder = arguments[i + 1];
  }
  return pitwall::bench::run(launches, folder);
}
