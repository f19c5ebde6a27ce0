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

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/result.h"
#include "db/settings.h"
#include "runtime/device.h"
#include "runtime/tensor.h"

namespace pitwall {

struct Signature;   // runtime/backend/support/signature.h
struct ShapeQuery;  // the same

// The computation of an operator. Inputs and outputs per operator and pass are listed at each Desc below; [x]
// is present only when the desc requests it. infer(), which checks shapes and infers those of the outputs, is
// in the operator's file in runtime/operators/. In operators that keep a workspace the last input of the
// backward pass is opaque bytes (DType uint8) from the forward pass of the same backend.
enum class Pass : std::uint8_t { inference, forward, backwardData, backwardWeights, backward };
const char* toString(Pass pass);

enum class ActivationType : std::uint8_t { relu, sigmoid, tanh, softrelu };
enum class PoolingType : std::uint8_t { max, average };  // average counts only elements inside the image
enum class BinaryType : std::uint8_t { add, subtract, multiply, divide };

// NCHW data, OIHW weight (O x I/groups x KH x KW), O bias.
//   inference, forward: data, weight, [bias] -> out
//   backwardData:       dout, weight         -> ddata
//   backwardWeights:    data, dout           -> dweight, [dbias]
struct ConvolutionDesc {
  static constexpr const char* kName = "Convolution";
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilate{1, 1};
  std::int64_t channels = 1;  // of the output
  std::int64_t groups = 1;
  bool bias = true;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ConvolutionDesc&, const ConvolutionDesc&) = default;
};

// Data of rank >= 2 is flattened after the first axis: N x K; weight M x K; bias M; out N x M.
//   passes as Convolution
struct FullyConnectedDesc {
  static constexpr const char* kName = "FullyConnected";
  std::int64_t units = 1;
  bool bias = true;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const FullyConnectedDesc&, const FullyConnectedDesc&) = default;
};

// NCHW, valid (floor) output size.
//   inference: data -> out
//   forward:   data -> out, workspace (opaque bytes, DType uint8, of the shape that outputs()[1] says)
//   backward:  data, out, dout, workspace -> ddata      (data and out are not read: pass any pointer)
struct PoolingDesc {
  static constexpr const char* kName = "Pooling";
  static constexpr bool kKeepsWorkspace = true;
  PoolingType type = PoolingType::max;
  std::array<std::int64_t, 2> kernel{2, 2}, stride{2, 2}, pad{0, 0};
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const PoolingDesc&, const PoolingDesc&) = default;
};

//   inference, forward: data -> out
//   backward:           data, out, dout -> ddata
// Backward, relu, sigmoid and tanh do not read data, softrelu does not read out: pass any pointer.
struct ActivationDesc {
  static constexpr const char* kName = "Activation";
  ActivationType type = ActivationType::relu;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ActivationDesc&, const ActivationDesc&) = default;
};

// Local response normalisation across channels, NCHW: out = data * (knorm + alpha / nsize * sum)^-beta, where
// sum is that of the squares of the nsize (odd) channels around the element's.
//   inference: data -> out
//   forward:   data -> out, workspace (as Pooling's)
//   backward:  data, dout, workspace -> ddata
struct LrnDesc {
  static constexpr const char* kName = "LRN";
  static constexpr bool kKeepsWorkspace = true;
  float alpha = 1e-4F, beta = 0.75F, knorm = 2;
  std::int64_t nsize = 5;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const LrnDesc&, const LrnDesc&) = default;
};

// Over axis 1 of NCHW or NC data.
//   inference: data, gamma, beta, running_mean, running_var -> out
//   forward:   data, gamma, beta -> out, saved_mean, saved_var, running_mean, running_var
//              (running_* are read and written: r = momentum * r + (1 - momentum) * batch)
//   backward:  data, gamma, saved_mean, saved_var, dout -> ddata, dgamma, dbeta
struct BatchNormDesc {
  static constexpr const char* kName = "BatchNorm";
  float epsilon = 1e-5F;
  float momentum = 0.9F;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BatchNormDesc&, const BatchNormDesc&) = default;
};

// Keeps an element with probability 1 - rate and scales it by 1 / (1 - rate).
//   forward:  data -> out, mask (float32: 0 or 1 / (1 - rate), layout of data)
//   backward: dout, mask -> ddata
// The draw depends only on KernelContext::seed, not on the number of threads.
struct DropoutDesc {
  static constexpr const char* kName = "Dropout";
  float rate = 0.5F;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const DropoutDesc&, const DropoutDesc&) = default;
};

// Same shapes. inference, forward: a, b -> out
struct BinaryDesc {
  static constexpr const char* kName = "Binary";
  BinaryType type = BinaryType::add;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BinaryDesc&, const BinaryDesc&) = default;
};

// out = scale * data + shift. inference, forward: data -> out
struct LinearDesc {
  static constexpr const char* kName = "Linear";
  float scale = 1, shift = 0;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const LinearDesc&, const LinearDesc&) = default;
};

// data N x C, label N (class index as float32), loss N (per sample, natural log).
//   inference, forward: data, label -> loss, probability
//   backward:           probability, label, dloss -> ddata
struct SoftmaxCrossEntropyDesc {
  static constexpr const char* kName = "SoftmaxCrossEntropy";
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SoftmaxCrossEntropyDesc&, const SoftmaxCrossEntropyDesc&) = default;
};

// Any number of weights in one call, each with its own size, in any layout that weight and gradient share.
//   forward: gradient_0..n-1 -> weight_0..n-1, [momentum_0..n-1]   (weights and momenta are read and written)
//   g = rescale * gradient + weight_decay * weight; with momentum m = momentum * m - rate * g, weight += m;
//   without weight -= rate * g. rate is KernelArgs::rate, rescale KernelArgs::rescale.
struct SgdDesc {
  static constexpr const char* kName = "SGD";
  float momentum = 0;
  float weight_decay = 0;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SgdDesc&, const SgdDesc&) = default;
};

// forward: data -> out with the layout of output_layout.
struct ReorderDesc {
  static constexpr const char* kName = "Reorder";
  LayoutPtr output_layout;  // null = row-major
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ReorderDesc& a, const ReorderDesc& b) {
    return sameLayout(a.output_layout, b.output_layout);
  }
};

using OperatorKindDesc =
    std::variant<ConvolutionDesc, FullyConnectedDesc, PoolingDesc, ActivationDesc, LrnDesc, BatchNormDesc,
                 DropoutDesc, BinaryDesc, LinearDesc, SoftmaxCrossEntropyDesc, SgdDesc, ReorderDesc>;

// What one run of a kernel may use besides its arrays.
struct KernelContext {
  Device device = {};
  void* stream = nullptr;     // of a GPU: the stream that gets the work (cudaStream_t); a CPU has none
  void* workspace = nullptr;  // Kernel::workspaceBytes() bytes, aligned to 64, for this run alone
  int threads = 1;  // at most so many OpenMP threads; a library that decides itself uses the calling thread's
  std::uint64_t seed = 0;  // dropout
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
  // Pointers in the order of the Desc, each in the layout given below. Errors: internal with the library's
  // message.
  virtual Status run(const KernelArgs& args) const = 0;

  const std::vector<TensorSpec>& inputs() const { return inputs_; }    // layouts required
  const std::vector<TensorSpec>& outputs() const { return outputs_; }  // layouts produced
  Bytes workspaceBytes() const { return workspace_bytes_; }            // that a run needs; 0 = none
  // "jit:avx512_core"; for operator facts
  const std::string& implementation() const { return implementation_; }

 protected:
  std::vector<TensorSpec> inputs_, outputs_;
  Bytes workspace_bytes_ = 0;
  std::string implementation_;
};
using KernelPtr = std::shared_ptr<const Kernel>;

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
