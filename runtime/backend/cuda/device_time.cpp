#include "runtime/backend/cuda/device_time.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "db/try.h"
#include "runtime/backend/cuda/library_helpers.h"

namespace pitwall::cuda {

namespace {

constexpr int kRuns = 4;

Status measured(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  (void)cudaGetLastError();
  return fail(error == cudaErrorMemoryAllocation ? ErrorCode::io : ErrorCode::internal,
              fmt::format("{} failed: {}", what, cudaGetErrorString(error)));
}

// A stream and two events.
class Stopwatch {
 public:
  ~Stopwatch() {
    if (end_ != nullptr) (void)cudaEventDestroy(end_);
    if (begin_ != nullptr) (void)cudaEventDestroy(begin_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  Stopwatch() = default;
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  Status open() {
    PITWALL_TRY(measured(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"));
    PITWALL_TRY(measured(cudaEventCreate(&begin_), "cudaEventCreate"));
    return measured(cudaEventCreate(&end_), "cudaEventCreate");
  }
  void* stream() const { return stream_; }
  Result<double> time(const std::function<Status(void*)>& put) {
    PITWALL_TRY(measured(cudaEventRecord(begin_, stream_), "cudaEventRecord"));
    PITWALL_TRY(put(stream_));
    PITWALL_TRY(measured(cudaEventRecord(end_, stream_), "cudaEventRecord"));
    PITWALL_TRY(measured(cudaEventSynchronize(end_), "an engine"));
    float milliseconds = 0;
    PITWALL_TRY(measured(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime"));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

ScratchMemory::~ScratchMemory() {
  for (void* const data : all_) (void)cudaFree(data);
}

Result<void*> ScratchMemory::take(Bytes bytes) {
  void* data = nullptr;
  PITWALL_TRY(
      measured(cudaMalloc(&data, static_cast<std::size_t>(std::max<Bytes>(bytes, 256))), "cudaMalloc"));
  all_.push_back(data);
  return data;
}

Result<void*> ScratchMemory::noise(DType type, std::int64_t count) {
  void* const data = PITWALL_TRY(take(count * sizeOf(type)));
  PITWALL_TRY(fillWithNoise(nullptr, type, data, count));
  PITWALL_TRY(measured(cudaStreamSynchronize(nullptr), "a fill"));
  return data;
}

Result<double> secondsOnDevice(const std::function<Status(void* stream)>& put) {
  Stopwatch watch;
  PITWALL_TRY(watch.open());
  (void)PITWALL_TRY(watch.time(put));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) best = std::min(best, PITWALL_TRY(watch.time(put)));
  return best;
}

}  // namespace pitwall::cuda
