// What kernels of GPUs are written with. They are templates over how they are launched, compiled twice from the same text: by
// nvcc for the device (runtime/backend/cuda/), and by the C++ compiler as loops, with which tests compare their arithmetic
// with the reference backend where there is no GPU.
//
//   struct Square {                                     each element by itself: a thread computes one
//     const float* x; float* y;
//     PITWALL_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] * x[i]; }
//   };
//   struct Root {                                       the same where it is one number: launch.map(n, y, Root{x})
//     const float* x;
//     PITWALL_DEVICE float operator()(std::int64_t i) const { return sqrtf(x[i]); }
//   };
//   struct Sum {                                        each row by a team of threads
//     const float* x; float* y; std::int64_t count;
//     template <class Team> PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
//       const double sum = team.sum(count, [=](std::int64_t i) { return x[row * count + i]; });
//       if (team.isFirst()) y[row] = static_cast<float>(sum);
//     }
//   };
//   L launch(args.context); launch.each(n, Square{x, y}); launch.rows(rows, count, Sum{x, y, count});
//   return launch.status();
//
// All members of a functor are plain values. A Launch has each(), map(), rows(), columns() (column_sums.h) and status(); a Team sum(),
// largest(), each() and isFirst(). Sums are of double: one addition for each number that is read costs nothing beside the reading.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/backend/support/function_kernel.h"
#include "runtime/gpu.h"

#ifdef __CUDACC__
#define PITWALL_DEVICE __device__ inline
#else
#define PITWALL_DEVICE inline
#endif

namespace pitwall::gpu_kernels {

// A pass of an operator; `explain` where it may report a problem.
struct GpuFunction {
  RunFunction run;
  std::function<Status(const GpuProblem&)> explain;

  GpuFunction() = default;
  template <class F>
  requires(std::is_invocable_r_v<Status, F&, const KernelArgs&>)
      GpuFunction(F function)  // NOLINT: conversion
      : run(std::move(function)) {}
  GpuFunction(RunFunction function, std::function<Status(const GpuProblem&)> explains)
      : run(std::move(function)), explain(std::move(explains)) {}
};

// A kernel made of such a function.
class GpuFunctionKernel final : public Kernel {
 public:
  GpuFunctionKernel(Signature signature, std::string implementation, GpuFunction function)
      : function_(std::move(function)) {
    inputs_ = std::move(signature.inputs);
    outputs_ = std::move(signature.outputs);
    workspace_bytes_ = signature.workspace_bytes;
    implementation_ = std::move(implementation);
  }
  Status run(const KernelArgs& args) const override { return function_.run(args); }
  bool reportsProblems() const override { return function_.explain != nullptr; }
  Status explain(const GpuProblem& problem) const override { return function_.explain(problem); }

 private:
  const GpuFunction function_;
};

// Of numbers that are not negative. A GPU divides numbers of 32 bits several times faster.
PITWALL_DEVICE std::int64_t quotientOf(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  return a / b;
}
PITWALL_DEVICE std::int64_t remainderOf(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b);
  return a % b;
}

// Several threads may add to one number.
PITWALL_DEVICE void addTo(float* sum, float value) {
#ifdef __CUDACC__
  atomicAdd(sum, value);
#else
  *sum += value;
#endif
}

// The first problem is kept.
PITWALL_DEVICE void report(GpuProblem* problem, std::int64_t index, float value) {
#ifdef __CUDACC__
  if (atomicCAS(&problem->code, 0, 1) != 0) return;
#else
  if (problem->code != 0) return;
  problem->code = 1;
#endif
  problem->index = index;
  problem->value = value;
}

// Elements of arrays of which some axes repeat or are left out: the offset of the index-th combination.
struct Axes {
  static constexpr int kMost = 6;
  std::int64_t extents[kMost], steps[kMost];
  int rank;

  PITWALL_DEVICE std::int64_t offset(std::int64_t index) const {
    std::int64_t at = 0;
    for (int i = rank - 1; i >= 0; --i) {
      at += remainderOf(index, extents[i]) * steps[i];
      index = quotientOf(index, extents[i]);
    }
    return at;
  }
  void append(std::int64_t extent, std::int64_t step) {
    extents[rank] = extent;
    steps[rank] = step;
    ++rank;
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extents[i];
    return n;
  }
};

}  // namespace pitwall::gpu_kernels
