// Backend: creates kernels. A kernel is one operator prepared for fixed shapes and layouts; running it is a
// call with pointers. All other backends are tested against the reference backend.
//
// A kernel may want an input in another layout than it has: `inputs[i]` says which; the caller reorders with
// a ReorderDesc kernel first. Outputs come in the layout of `outputs[i]`. If all layouts are row-major, no
// reorder is needed.
//
// Threads: prepare() from any thread; Kernel::run() of one kernel from several threads at once. A kernel may
// use as many OpenMP threads as were allowed where it was prepared. Kernels are cached by the backend
// (bounded by MXNET_MKLDNN_CACHE_NUM per operator kind; -1 = unbounded).
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
#include "runtime/tensor.h"

namespace pitwall {

// The computation of an operator. Inputs and outputs per operator and pass are listed at each Desc below; [x]
// is present only when the desc requests it.
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
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilate{1, 1};
  std::int64_t channels = 1;  // of the output
  std::int64_t groups = 1;
  bool bias = true;
  friend bool operator==(const ConvolutionDesc&, const ConvolutionDesc&) = default;
};

// Data of rank >= 2 is flattened after the first axis: N x K; weight M x K; bias M; out N x M.
//   passes as Convolution
struct FullyConnectedDesc {
  std::int64_t units = 1;
  bool bias = true;
  friend bool operator==(const FullyConnectedDesc&, const FullyConnectedDesc&) = default;
};

// NCHW, valid (floor) output size.
//   inference: data -> out
//   forward:   data -> out, workspace (opaque bytes, DType uint8, of the shape that outputs()[1] says)
//   backward:  data, out, dout, workspace -> ddata      (data and out are not read: pass any pointer)
struct PoolingDesc {
  PoolingType type = PoolingType::max;
  std::array<std::int64_t, 2> kernel{2, 2}, stride{2, 2}, pad{0, 0};
  friend bool operator==(const PoolingDesc&, const PoolingDesc&) = default;
};

//   inference, forward: data -> out
//   backward:           data, out, dout -> ddata
// Backward, relu, sigmoid and tanh do not read data, softrelu does not read out: pass any pointer.
struct ActivationDesc {
  ActivationType type = ActivationType::relu;
  friend bool operator==(const ActivationDesc&, const ActivationDesc&) = default;
};

// Over axis 1 of NCHW or NC data.
//   inference: data, gamma, beta, running_mean, running_var -> out
//   forward:   data, gamma, beta -> out, saved_mean, saved_var, running_mean, running_var
//              (running_* are read and written: r = momentum * r + (1 - momentum) * batch)
//   backward:  data, gamma, saved_mean, saved_var, dout -> ddata, dgamma, dbeta
struct BatchNormDesc {
  float epsilon = 1e-5F;
  float momentum = 0.9F;
  friend bool operator==(const BatchNormDesc&, const BatchNormDesc&) = default;
};

// Keeps an element with probability 1 - rate and scales it by 1 / (1 - rate).
//   forward:  data -> out, mask (float32: 0 or 1 / (1 - rate), layout of data)
//   backward: dout, mask -> ddata
// The draw depends only on KernelArgs::seed, not on the number of threads.
struct DropoutDesc {
  float rate = 0.5F;
  friend bool operator==(const DropoutDesc&, const DropoutDesc&) = default;
};

// Same shapes. inference, forward: a, b -> out
struct BinaryDesc {
  BinaryType type = BinaryType::add;
  friend bool operator==(const BinaryDesc&, const BinaryDesc&) = default;
};

// out = scale * data + shift. inference, forward: data -> out
struct LinearDesc {
  float scale = 1, shift = 0;
  friend bool operator==(const LinearDesc&, const LinearDesc&) = default;
};

// data N x C, label N (class index as float32), loss N (per sample, natural log).
//   inference, forward: data, label -> loss, probability
//   backward:           probability, label, dloss -> ddata
struct SoftmaxCrossEntropyDesc {
  friend bool operator==(const SoftmaxCrossEntropyDesc&, const SoftmaxCrossEntropyDesc&) = default;
};

// Any number of weights in one call, each with its own size, in any layout that weight and gradient share.
//   forward: gradient_0..n-1 -> weight_0..n-1, [momentum_0..n-1]   (weights and momenta are read and written)
//   g = rescale * gradient + weight_decay * weight; with momentum m = momentum * m - rate * g, weight += m;
//   without weight -= rate * g. rate is KernelArgs::rate, rescale KernelArgs::rescale.
struct SgdDesc {
  float momentum = 0;
  float weight_decay = 0;
  friend bool operator==(const SgdDesc&, const SgdDesc&) = default;
};

// forward: data -> out with the layout of output_layout.
struct ReorderDesc {
  LayoutPtr output_layout;  // null = row-major
  friend bool operator==(const ReorderDesc& a, const ReorderDesc& b) {
    return sameLayout(a.output_layout, b.output_layout);
  }
};

using OperatorKindDesc =
    std::variant<ConvolutionDesc, FullyConnectedDesc, PoolingDesc, ActivationDesc, BatchNormDesc, DropoutDesc,
                 BinaryDesc, LinearDesc, SoftmaxCrossEntropyDesc, SgdDesc, ReorderDesc>;

struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::uint64_t seed = 0;  // dropout
  float rate = 0;          // sgd
  float rescale = 1;       // sgd
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Pointers in the order of the Desc, each in the layout given below. Errors: internal with the library's
  // message.
  virtual Status run(const KernelArgs& args) const = 0;

  const std::vector<TensorSpec>& inputs() const { return inputs_; }    // layouts required
  const std::vector<TensorSpec>& outputs() const { return outputs_; }  // layouts produced
  const std::string& implementation() const {
    return implementation_;
  }  // "jit:avx512_core"; for operator facts

 protected:
  std::vector<TensorSpec> inputs_, outputs_;
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
  // with the preferred layout. Errors: invalidInput for incompatible shapes (naming operator and shapes),
  // unsupported.
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
