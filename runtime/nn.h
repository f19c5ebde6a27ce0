// Networks: layers, whose names appear in the trace, and a sequence of them.
//
//   nn::Sequential net;
//   net.add(nn::Conv2D("conv1", {.channels = 20, .kernel = {5, 5}}));
//   net.add(nn::Activation("relu1", ActivationType::relu));
//   net.add(nn::Dense("dense1", {.units = 10}));
//   Result<NDArray> scores = net.forward(images);
//
// net.hybridize() makes a graph of the network, which later calls run with an executor: fewer kernels, planned memory.
//
// Parameters get their shapes and values at the first forward(), when the shape of the data is known. Layers
// are used by one thread at a time and must be destroyed before their session.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/operators.h"
#include "runtime/symbol.h"

namespace pitwall::nn {

class CachedOp;  // runtime/nn/cached_op.h

struct Parameter {
  std::string name;          // "conv1.weight"
  NDArray value;             // empty until the first forward()
  bool trained = true;       // false: statistics that forward() itself updates
  bool follows_net = false;  // takes the initialiser given to Sequential::initialise()
  Initialiser initialiser = Initialiser::constant(0);
  std::uint64_t seed = 1;

  // Creates and fills the array if there is none yet. Layers create it on the device of their first data.
  Status make(Session& session, const Shape& shape, Device device = {});
};
using ParameterPtr = std::shared_ptr<Parameter>;

class Layer {
 public:
  explicit Layer(std::string name) : name_(std::move(name)) {}
  virtual ~Layer() = default;
  Layer(Layer&&) = default;
  Layer& operator=(Layer&&) = default;

  const std::string& name() const { return name_; }
  virtual std::vector<ParameterPtr> parameters() const { return {}; }

  // Returns before the work is done. In training mode while an autograd::RecordScope is alive. Errors:
  // incompatible shapes, naming the layer.
  virtual Result<NDArray> forward(const NDArray& data) = 0;

  // The layer as nodes of a graph, for Sequential::hybridize(). Variables have the names of the parameters. Errors: unsupported for
  // a layer that does not override this.
  virtual Result<Symbol> compose(const Symbol& data) const;

 private:
  std::string name_;
};

struct Conv2DOptions {
  std::int64_t channels = 1;
  std::array<std::int64_t, 2> kernel{3, 3}, stride{1, 1}, pad{0, 0}, dilate{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

// NCHW data.
class Conv2D final : public Layer {
 public:
  Conv2D(std::string name, const Conv2DOptions& options);
  std::vector<ParameterPtr> parameters() const override;
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  ConvolutionDesc desc_;
  ParameterPtr weight_, bias_;
  CallSite site_;
};

struct DenseOptions {
  std::int64_t units = 1;
  bool bias = true;
};

// Data of any rank from 2 on; flattened after the first axis.
class Dense final : public Layer {
 public:
  Dense(std::string name, const DenseOptions& options);
  std::vector<ParameterPtr> parameters() const override;
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  FullyConnectedDesc desc_;
  ParameterPtr weight_, bias_;
  CallSite site_;
};

struct Pool2DOptions {
  std::array<std::int64_t, 2> kernel{2, 2};
  std::array<std::int64_t, 2> stride{0, 0};  // 0: as the kernel
  std::array<std::int64_t, 2> pad{0, 0};
};

class Pool2D : public Layer {
 public:
  Pool2D(std::string name, PoolingType type, const Pool2DOptions& options);
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  PoolingDesc desc_;
  CallSite site_;
};

class MaxPool2D final : public Pool2D {
 public:
  explicit MaxPool2D(std::string name, const Pool2DOptions& options = {})
      : Pool2D(std::move(name), PoolingType::max, options) {}
};

// The mean of the elements inside the image.
class AvgPool2D final : public Pool2D {
 public:
  explicit AvgPool2D(std::string name, const Pool2DOptions& options = {})
      : Pool2D(std::move(name), PoolingType::average, options) {}
};

class Activation final : public Layer {
 public:
  Activation(std::string name, ActivationType type);
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  ActivationDesc desc_;
  CallSite site_;
};

// Local response normalisation across channels, NCHW data.
class LRN final : public Layer {
 public:
  explicit LRN(std::string name, const LrnDesc& options = {});
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  LrnDesc desc_;
  CallSite site_;
};

// Over axis 1 of NCHW or NC data.
class BatchNorm final : public Layer {
 public:
  explicit BatchNorm(std::string name, const BatchNormDesc& options = {});
  std::vector<ParameterPtr> parameters() const override;
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  BatchNormDesc desc_;
  ParameterPtr gamma_, beta_, running_mean_, running_variance_;
  CallSite site_;
};

// The identity outside training. The dropped elements depend on `seed` and on the number of forward() calls.
class Dropout final : public Layer {
 public:
  Dropout(std::string name, float rate, std::uint64_t seed = 1);
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  DropoutDesc desc_;
  std::uint64_t seed_;
  std::uint64_t calls_ = 0;
  CallSite site_;
};

class Flatten final : public Layer {
 public:
  explicit Flatten(std::string name);
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  CallSite site_;
};

// As those of MXNet's hybridize().
struct HybridizeOptions {
  bool active = true;  // false: forward() calls the layers one after the other again
  // Intermediate results keep their memory from call to call; without, it goes back to the session's pool after each.
  bool static_alloc = false;
  // The shapes of the data rarely change: for each, the backend's implementations of convolutions are measured before its first
  // inference, as Executor::bind() does. Needs static_alloc.
  bool static_shape = false;
  std::uint64_t seed = 1;  // of Dropout; each call draws anew
};

class Sequential final : public Layer {
 public:
  explicit Sequential(std::string name = "net") : Layer(std::move(name)) {}

  template <std::derived_from<Layer> L>
  Sequential& add(L layer) {
    layers_.push_back(std::make_unique<L>(std::move(layer)));
    return *this;
  }

  // Chooses how weights are filled (biases start at 0, BatchNorm at the identity). Without it: Xavier with
  // seed 1. Existing weights are filled again.
  Status initialise(const Initialiser& initialiser, std::uint64_t seed);

  // forward() then makes a graph of the layers at its next call, and runs it with an executor for each shape of the data that it
  // meets: for inference neighbouring operators are fused, and MXNET_EXEC_BULK_EXEC_* apply to the graph. Results and gradients
  // are those of the layers, but that Dropout draws other elements. Layers that are added later need another call. Errors:
  // invalidInput for static_shape without static_alloc; those of the graph surface in forward(), naming the layer.
  Status hybridize(const HybridizeOptions& options = {});

  std::vector<ParameterPtr> parameters() const override;
  Result<NDArray> forward(const NDArray& data) override;
  Result<Symbol> compose(const Symbol& data) const override;

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
  HybridizeOptions hybrid_ = {.active = false};
  std::shared_ptr<CachedOp> cached_;  // made by the first forward() after hybridize()
};

// The loss of each sample; see op::softmaxCrossEntropy.
class SoftmaxCrossEntropy {
 public:
  explicit SoftmaxCrossEntropy(std::string name = "loss") : site_(std::move(name)) {}
  Result<NDArray> forward(const NDArray& scores, const NDArray& labels);

 private:
  CallSite site_;
};

}  // namespace pitwall::nn
