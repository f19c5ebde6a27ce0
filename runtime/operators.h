// Operators on arrays. Each returns immediately with the array that will hold the result; the work is pushed
// to the session's engine. Incompatible shapes are an error of the call (invalidInput naming layer, operator
// and shapes); failures while running are reported when the result is waited for.
//
// While an autograd::RecordScope is alive on the calling thread, operators run in training mode and remember
// what their gradients need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/backend.h"
#include "runtime/ndarray.h"

namespace pitwall {

struct CallSiteState;  // runtime/array/call.h

// A call site of a repeatedly called operator: it names the layer in the trace and caches the prepared
// kernels by shape, so that a repeated call needs no lookup. A plain handle; copies share. Use one per
// operator, from one thread at a time, and destroy it before its session.
class CallSite {
 public:
  CallSite() = default;  // no call site: every call prepares a kernel
  explicit CallSite(std::string layer);
  const std::shared_ptr<CallSiteState>& state() const { return state_; }

 private:
  std::shared_ptr<CallSiteState> state_;
};

namespace op {

// The trained inputs of an operator; an empty bias means none (and desc.bias must agree).
struct WeightAndBias {
  NDArray weight;
  NDArray bias;
};

// data N x C x H x W, weight O x C/groups x KH x KW, bias O.
Result<NDArray> convolution(const NDArray& data, const WeightAndBias& trained, const ConvolutionDesc& desc,
                            const CallSite& site = {});

// data N x ..., flattened after the first axis; weight M x K, bias M -> N x M.
Result<NDArray> fullyConnected(const NDArray& data, const WeightAndBias& trained,
                               const FullyConnectedDesc& desc, const CallSite& site = {});

Result<NDArray> pooling(const NDArray& data, const PoolingDesc& desc, const CallSite& site = {});
Result<NDArray> activation(const NDArray& data, const ActivationDesc& desc, const CallSite& site = {});

// Local response normalisation across the channels of N x C x H x W data.
Result<NDArray> lrn(const NDArray& data, const LrnDesc& desc, const CallSite& site = {});

// One array each of C elements. When recording, batch statistics are used and the running ones updated in
// place.
struct BatchNormState {
  NDArray gamma, beta, running_mean, running_variance;
};
Result<NDArray> batchNorm(const NDArray& data, const BatchNormState& state, const BatchNormDesc& desc,
                          const CallSite& site = {});

// The identity unless recording. `seed` determines the dropped elements.
Result<NDArray> dropout(const NDArray& data, const DropoutDesc& desc, std::uint64_t seed,
                        const CallSite& site = {});

// N x all other axes. Shares the memory if it is already row-major.
Result<NDArray> flatten(const NDArray& data, const CallSite& site = {});
Result<NDArray> reshape(const NDArray& data, Shape shape, const CallSite& site = {});

// Element by element, equal shapes.
Result<NDArray> add(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> subtract(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> multiply(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> divide(const NDArray& a, const NDArray& b, const CallSite& site = {});

Result<NDArray> addScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> subtractScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> multiplyScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> divideScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> subtractFromScalar(float scalar, const NDArray& data, const CallSite& site = {});
Result<NDArray> divideScalarBy(float scalar, const NDArray& data, const CallSite& site = {});

// data N x C, label N (class index) -> loss of each sample, N (natural logarithm).
Result<NDArray> softmaxCrossEntropy(const NDArray& data, const NDArray& label, const CallSite& site = {});

// g = rescale * gradient + weight_decay * weight; momentum = desc.momentum * momentum - rate * g;
// weight += momentum. Without momentum, weight -= rate * g. Each weight needs attachGradient(); all arrays of
// one call are updated by one operator.
struct SgdItem {
  NDArray weight;
  NDArray momentum;  // zeros at the start; empty when desc.momentum is 0
};
struct SgdStep {
  float rate = 0.01F;
  float rescale = 1;
};
Status sgdUpdate(std::span<const SgdItem> items, const SgdDesc& desc, SgdStep step,
                 const CallSite& site = {});

}  // namespace op

// How an array is initialised. The same seed gives the same values on every machine.
struct Initialiser {
  enum class Kind : std::uint8_t { constant, uniform, normal, xavier };
  Kind kind = Kind::xavier;
  float a = 3;  // constant: the value; uniform: low; normal: mean; xavier: magnitude
  float b = 0;  // uniform: high; normal: standard deviation

  static Initialiser constant(float value) { return {Kind::constant, value, 0}; }
  static Initialiser uniform(float low, float high) { return {Kind::uniform, low, high}; }
  static Initialiser normal(float mean, float deviation) { return {Kind::normal, mean, deviation}; }
  // Uniform within +-sqrt(magnitude / ((fan_in + fan_out) / 2)).
  static Initialiser xavier(float magnitude = 3) { return {Kind::xavier, magnitude, 0}; }
};

// Overwrites the array. The values are computed before it returns.
Status initialise(NDArray& array, const Initialiser& initialiser, std::uint64_t seed);

}  // namespace pitwall
