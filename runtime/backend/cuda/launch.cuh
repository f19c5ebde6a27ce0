// How kernels of runtime/backend/gpu_kernels/ are launched on a device. Only for .cu files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "runtime/backend/cuda/short_float.cuh"
#include "runtime/backend/gpu_kernels/column_sums.h"
#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"

namespace pitwall::cuda {

constexpr int kThreads = 256;

// The threads of a block, which compute one row.
struct Team {
  template <class Map>
  __device__ double sum(std::int64_t n, Map map) {
    double own = 0;
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) own += map(i);
    return together(own, 0.0, [](double a, double b) { return a + b; });
  }
  template <class Map>
  __device__ float largest(std::int64_t n, Map map) {
    float own = -INFINITY;
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) own = gpu_kernels::larger(own, map(i));
    return together(own, -INFINITY, [](float a, float b) { return gpu_kernels::larger(a, b); });
  }
  template <class F>
  __device__ void each(std::int64_t n, F f) {
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) f(i);
  }
  __device__ bool isFirst() const { return threadIdx.x == 0; }

 private:
  // Of all threads of the block, in each. The block is a multiple of a warp.
  template <class T, class Combine>
  __device__ T together(T own, T neutral, Combine combine) {
    __shared__ T parts[32];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    for (int step = 16; step > 0; step /= 2) own = combine(own, __shfl_down_sync(0xFFFFFFFFU, own, step));
    __syncthreads();  // everyone has read the result of the call before
    if (lane == 0) parts[warp] = own;
    __syncthreads();
    T all = neutral;
    for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) all = combine(all, parts[i]);
    return all;
  }
};

template <class F>
__global__ void eachKernel(std::int64_t n, F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    f(i);
}

// Each thread reads what several results need before it writes the first: so many reads are under way that the memory is busy.
template <class E>
constexpr int kTogether = sizeof(E) == 2 ? 8 : 4;

template <class E, class F>
__global__ void mapKernel(std::int64_t n, E* to, F f) {
  const std::int64_t block = static_cast<std::int64_t>(blockDim.x) * kTogether<E>;
  for (std::int64_t first = blockIdx.x * block + threadIdx.x; first < n; first += gridDim.x * block) {
    float results[kTogether<E>];
#pragma unroll
    for (int k = 0; k < kTogether<E>; ++k) {
      const std::int64_t i = first + k * static_cast<std::int64_t>(blockDim.x);
      if (i < n) results[k] = f(i);
    }
#pragma unroll
    for (int k = 0; k < kTogether<E>; ++k) {
      const std::int64_t i = first + k * static_cast<std::int64_t>(blockDim.x);
      if (i < n) to[i] = gpu_kernels::stored<E>(results[k]);
    }
  }
}

template <class F>
__global__ void rowsKernel(std::int64_t rows, F f) {
  Team team;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) f(team, row);
}

// A thread's sums of its rows of a column.
template <class F>
__device__ inline void sumRows(const gpu_kernels::ColumnPlan& plan, const F& f, std::int64_t column,
                               double (&sums)[F::kSums][F::kWidth]) {
  constexpr int kSums = F::kSums, kWidth = F::kWidth, kReads = gpu_kernels::ColumnPlan::kTogether;
  const auto own = f.of(column);
  const auto add = [&sums](const typename F::Few(&few)[kSums][kWidth]) {
    for (int s = 0; s < kSums; ++s)
      for (int k = 0; k < kWidth; ++k) sums[s][k] += static_cast<double>(few[s][k]);
  };
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  for (; row + (kReads - 1) * step < plan.rows; row += kReads * step) {
    decltype(f.read(row, column)) read[kReads];
#pragma unroll
    for (int k = 0; k < kReads; ++k) read[k] = f.read(row + k * step, column);
    typename F::Few few[kSums][kWidth] = {};
#pragma unroll
    for (int k = 0; k < kReads; ++k) f.add(own, read[k], few);
    add(few);
  }
  typename F::Few few[kSums][kWidth] = {};
  for (; row < plan.rows; row += step) f.add(own, f.read(row, column), few);
  add(few);
}

template <class F>
__global__ void columnsKernel(gpu_kernels::ColumnPlan plan, F f) {
  constexpr int kSums = F::kSums, kWidth = F::kWidth;
  __shared__ double shared[gpu_kernels::ColumnPlan::kThreads * kSums * kWidth];
  const int across = static_cast<int>(blockDim.x), down = static_cast<int>(blockDim.y);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * across, column = first + threadIdx.x;
  double sums[kSums][kWidth] = {};
  if (column < plan.columns) sumRows(plan, f, column, sums);
#pragma unroll
  for (int s = 0; s < kSums; ++s)
#pragma unroll
    for (int k = 0; k < kWidth; ++k)
      shared[((s * kWidth + k) * down + threadIdx.y) * across + threadIdx.x] = sums[s][k];
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.y) * across + static_cast<int>(threadIdx.x);
  for (int i = thread; i < across * kWidth; i += across * down) {
    const int k = i / across, at = i % across;
    if (first + at >= plan.columns) continue;
    double all[kSums] = {};
    for (int s = 0; s < kSums; ++s)
      for (int y = 0; y < down; ++y) all[s] += shared[((s * kWidth + k) * down + y) * across + at];
    f.done(blockIdx.y, (first + at) * kWidth + k, all);
  }
}

class CudaLaunch {
 public:
  explicit CudaLaunch(const KernelContext& context) : stream_(static_cast<cudaStream_t>(context.stream)) {}

  template <class F>
  void each(std::int64_t n, const F& f) {
    if (n <= 0) return;
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>((n + kThreads - 1) / kThreads, kMostBlocks));
    eachKernel<<<blocks, kThreads, 0, stream_>>>(n, f);
    check();
  }
  // to[i] = f(i); f may read to[i].
  template <class E, class F>
  void map(std::int64_t n, E* to, const F& f) {
    if (n <= 0) return;
    // Small blocks spread a small array over the whole device.
    const std::int64_t of_block = n < (1 << 20) ? kThreads / 4 : kThreads, each = of_block * kTogether<E>;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((n + each - 1) / each, kMostBlocks));
    mapKernel<<<blocks, static_cast<unsigned>(of_block), 0, stream_>>>(n, to, f);
    check();
  }
  // As many threads for a row as it can use.
  template <class F>
  void rows(std::int64_t rows, std::int64_t count, const F& f) {
    if (rows <= 0) return;
    const unsigned threads = count <= 64 ? 32 : count <= 512 ? 64 : kThreads;
    rowsKernel<<<static_cast<unsigned>(std::min<std::int64_t>(rows, kMostBlocks)), threads, 0, stream_>>>(
        rows, f);
    check();
  }
  // Sums of columns: gpu_kernels/column_sums.h.
  template <class F>
  void columns(const gpu_kernels::ColumnPlan& plan, const F& f) {
    if (plan.columns <= 0) return;
    const dim3 blocks(static_cast<unsigned>(plan.tiles()), static_cast<unsigned>(plan.parts));
    const dim3 threads(static_cast<unsigned>(plan.across), static_cast<unsigned>(plan.down));
    columnsKernel<<<blocks, threads, 0, stream_>>>(plan, f);
    check();
  }
  Status status() const {
    if (error_ == cudaSuccess) return {};
    return fail(ErrorCode::internal, std::string("a kernel could not be launched: ") +
                                         cudaGetErrorString(error_) + " (" + cudaGetErrorName(error_) + ")");
  }

 private:
  static constexpr std::int64_t kMostBlocks = 1 << 20;
  void check() {
    const cudaError_t error = cudaGetLastError();
    if (error_ == cudaSuccess) error_ = error;
  }
  cudaStream_t stream_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace pitwall::cuda

// Defines the function that runtime/backend/cuda/operators.h declares.
#define PITWALL_CUDA_KERNEL(Desc)                                                    \
  gpu_kernels::GpuFunction make(const Desc& desc, Pass pass, Signature& signature) { \
    return gpu_kernels::make<CudaLaunch>(desc, pass, signature);                     \
  }
