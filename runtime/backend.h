// Backend: creates kernels. A kernel is one operator prepared for fixed shapes and layouts; running it is a
// call with pointers. All other backends are tested against the reference backend.
//
// A kernel may want an input in another layout than it has: `inputs[i]` says which; the caller reorders with
// a ReorderDesc kernel first. Outputs come in the layout of `outputs[i]`. If all layouts are row-major, no
// reorder is needed.
//
// Threads: prepare() from any thread; Kernel::run() of one kernel from several threads at once. What a run
// may use besides its arrays is in its KernelContext; a kernel asks no global for it. Kernels are cached by
// the backend (bounded by MXNET_MKLDNN_CACHE_NUM per operator kind; -1 = unbounded).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"
#include "db/settings.h"
#include "runtime/device.h"
#include "runtime/gpu.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// What one run of a kernel may use besides its arrays.
struct KernelContext {
  Device device = {};
  void* stream = nullptr;     // of a GPU: the stream that gets the work (cudaStream_t); a CPU has none
  void* workspace = nullptr;  // Kernel::workspaceBytes() bytes, aligned to 64, for this run alone
  int threads = 1;  // at most so many OpenMP threads; a library that decides itself uses the calling thread's
  std::uint64_t seed = 0;         // dropout
  GpuProblem* problem = nullptr;  // of a GPU, where Kernel::reportsProblems(): what it could not compute
};

struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  float rate = 0;     // sgd
  float rescale = 1;  // sgd
  KernelContext context = {};
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Pointers in the order of the operator's Desc (runtime/operators/), each in the layout given below. Errors: internal with the library's
  // message.
  virtual Status run(const KernelArgs& args) const = 0;

  // On a GPU run() only puts work on the stream. Whether that may report a problem, such as a label that is no class; and the
  // problem as an error.
  virtual bool reportsProblems() const { return false; }
  virtual Status explain(const GpuProblem& /*problem*/) const { return {}; }

  const std::vector<TensorSpec>& inputs() const { return inputs_; }    // layouts required
  const std::vector<TensorSpec>& outputs() const { return outputs_; }  // layouts produced
  Bytes workspaceBytes() const { return workspace_bytes_; }            // that a run needs; 0 = none
  // What a run takes, where that was measured to choose an implementation; 0 = unknown.
  double measuredSeconds() const { return measured_seconds_; }
  // "jit:avx512_core"; for operator facts
  const std::string& implementation() const { return implementation_; }
  // What was measured to choose the implementation, for the trace: of this process, all that could run; where an earlier one has
  // measured, what it chose. Empty: nothing.
  struct Measured {
    std::string implementation;
    double seconds = 0;
    Bytes workspace_bytes = 0;
  };
  const std::vector<Measured>& measured() const { return measured_; }
  // What they compute: "convolution forward channels last 32x64x56x56 by ..."
  const std::string& problem() const { return problem_; }

 protected:
  std::vector<TensorSpec> inputs_, outputs_;
  Bytes workspace_bytes_ = 0;
  double measured_seconds_ = 0;
  std::string implementation_, problem_;
  std::vector<Measured> measured_;
};
using KernelPtr = std::shared_ptr<const Kernel>;

// 8-bit weights: multiples of `step`, -largest to largest.
struct WeightCodes {
  int largest = 127, step = 1;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Version of the library that computes: "2.6.3"; "" when there is none.
  virtual std::string libraryVersion() const { return {}; }

  // `inputs` in their current layouts, in the order of the Desc. For backward passes whose output shape does
  // not follow from the inputs (backwardData: ddata; backwardWeights: dweight), `like` is that output's spec
  // with the preferred layout. Errors: invalidInput for incompatible shapes (naming operator and shapes);
  // unsupported, naming backend and operator when this backend has no kernel for it.
  virtual Result<KernelPtr> prepare(const OperatorKindDesc& desc, Pass pass,
                                    std::span<const TensorSpec> inputs, const TensorSpec* like = nullptr) = 0;

  // The weights with which QuantizedConvolution or QuantizedFullyConnected computes exactly on data of this type. Others may give wrong
  // sums: processors without instructions for 8-bit products add two products in 16 bits, which saturate.
  virtual WeightCodes weightCodes(const OperatorKindDesc& /*desc*/, DType /*data*/) const { return {}; }

  struct CacheUsage {
    std::int64_t kernels = 0, hits = 0, misses = 0, evictions = 0;
  };
  virtual CacheUsage cacheUsage() const = 0;
};

// Names of the backends in this build, best first: "onednn", "reference", "null".
std::vector<std::string_view> backendNames();

// Errors: notFound, naming the available backends.
Result<std::unique_ptr<Backend>> openBackend(std::string_view name, const Settings& settings);

}  // namespace pitwall
