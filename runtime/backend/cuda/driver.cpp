#include "runtime/backend/cuda/driver.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/cuda/fill.h"
#include "runtime/devices.h"

namespace pitwall::cuda {
namespace {

Status statusOf(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();  // an error that is not sticky is not that of the next call too
  const ErrorCode code = error == cudaErrorMemoryAllocation ? ErrorCode::io : ErrorCode::internal;
  return fail(code,
              fmt::format("{} failed: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

cudaStream_t of(GpuStream stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t eventOf(GpuEvent event) { return static_cast<cudaEvent_t>(event); }

// Uses a device for one call, on any thread.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    (void)cudaGetDevice(&before_);
    if (before_ != device) (void)cudaSetDevice(device);
    device_ = device;
  }
  ~OnDevice() {
    if (before_ != device_) (void)cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0, device_ = 0;
};

class CudaDriver final : public GpuDriver {
 public:
  Result<int> deviceCount() override {
    const auto gpus = PITWALL_TRY(gpuInfo());
    return static_cast<int>(gpus.size());
  }
  Status use(int device) override { return statusOf(cudaSetDevice(device), "cudaSetDevice"); }

  void* allocate(int device, Bytes size) override {
    const OnDevice on(device);
    void* data = nullptr;
    if (cudaMalloc(&data, static_cast<std::size_t>(size)) == cudaSuccess) return data;
    (void)cudaGetLastError();
    return nullptr;
  }
  void free(int device, void* data) override {
    const OnDevice on(device);
    (void)cudaFree(data);
  }
  void* allocatePinned(int device, Bytes size) override {
    const OnDevice on(device);
    void* data = nullptr;
    if (cudaHostAlloc(&data, static_cast<std::size_t>(size), cudaHostAllocPortable) == cudaSuccess)
      return data;
    (void)cudaGetLastError();
    return nullptr;
  }
  void freePinned(void* data) override { (void)cudaFreeHost(data); }
  Result<GpuMemoryInfo> memoryInfo(int device) override {
    const OnDevice on(device);
    std::size_t free_bytes = 0, total = 0;
    PITWALL_TRY(statusOf(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo"));
    return GpuMemoryInfo{static_cast<Bytes>(free_bytes), static_cast<Bytes>(total)};
  }

  Result<GpuStream> createStream() override {
    cudaStream_t stream = nullptr;
    PITWALL_TRY(statusOf(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"));
    return GpuStream(stream);
  }
  void destroyStream(GpuStream stream) override { (void)cudaStreamDestroy(of(stream)); }
  Result<GpuEvent> createEvent() override {
    cudaEvent_t event = nullptr;
    PITWALL_TRY(statusOf(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"));
    return GpuEvent(event);
  }
  void destroyEvent(GpuEvent event) override { (void)cudaEventDestroy(eventOf(event)); }

  Status record(GpuEvent event, GpuStream stream) override {
    return statusOf(cudaEventRecord(eventOf(event), of(stream)), "cudaEventRecord");
  }
  Result<bool> isDone(GpuEvent event) override {
    const cudaError_t error = cudaEventQuery(eventOf(event));
    if (error == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    PITWALL_TRY(statusOf(error, "the work of an operator"));
    return true;
  }
  Status wait(GpuStream stream, GpuEvent event) override {
    return statusOf(cudaStreamWaitEvent(of(stream), eventOf(event), 0), "cudaStreamWaitEvent");
  }
  Status synchronize(GpuStream stream) override {
    return statusOf(cudaStreamSynchronize(of(stream)), "cudaStreamSynchronize");
  }

  Status copy(void* to, const void* from, Bytes size, GpuStream stream) override {
    return statusOf(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size), cudaMemcpyDefault, of(stream)),
                    "cudaMemcpyAsync");
  }
  Status fill(void* to, std::uint32_t pattern, std::int64_t words, GpuStream stream) override {
    return statusOf(fillWords(to, pattern, words, of(stream)), "a fill");
  }

  Result<GpuGraph> capture(GpuStream stream, const std::function<Status()>& put) override {
    // Other threads may allocate memory meanwhile.
    PITWALL_TRY(statusOf(cudaStreamBeginCapture(of(stream), cudaStreamCaptureModeThreadLocal),
                         "cudaStreamBeginCapture"));
    Status made = put();
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(of(stream), &graph);
    if (made.has_value()) made = statusOf(ended, "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    if (made.has_value())
      made = statusOf(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();  // that of a capture that failed
    PITWALL_TRY(std::move(made));
    return GpuGraph(executable);
  }
  Status launch(GpuGraph graph, GpuStream stream) override {
    return statusOf(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), of(stream)), "cudaGraphLaunch");
  }
  void destroyGraph(GpuGraph graph) override {
    (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
  }

  bool enablePeerAccess(int device, int other) override {
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, device, other) != cudaSuccess || can == 0) return false;
    const OnDevice on(device);
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error != cudaSuccess) (void)cudaGetLastError();
    return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
  }
  GpuLink link(int device, int other) override {
    GpuLink link;
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess) link.direct = can != 0;
    (void)cudaDeviceGetP2PAttribute(&link.rank, cudaDevP2PAttrPerformanceRank, device, other);
    (void)cudaGetLastError();
    return link;
  }
};

}  // namespace

std::unique_ptr<GpuDriver> makeDriver() { return std::make_unique<CudaDriver>(); }

}  // namespace pitwall::cuda
