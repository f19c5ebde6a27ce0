// The layers without parameters: they only forward their options.
#include "runtime/nn.h"

namespace pitwall::nn {

Pool2D::Pool2D(std::string name, PoolingType type, const Pool2DOptions& options)
    : Layer(std::move(name)),
      desc_{.type = type, .kernel = options.kernel, .stride = options.stride, .pad = options.pad},
      site_(this->name()) {
  for (std::size_t i = 0; i < 2; ++i)
    if (desc_.stride[i] == 0) desc_.stride[i] = desc_.kernel[i];
}
Result<NDArray> Pool2D::forward(const NDArray& data) { return op::pooling(data, desc_, site_); }

Activation::Activation(std::string name, ActivationType type)
    : Layer(std::move(name)), desc_{type}, site_(this->name()) {}
Result<NDArray> Activation::forward(const NDArray& data) { return op::activation(data, desc_, site_); }

LRN::LRN(std::string name, const LrnDesc& options)
    : Layer(std::move(name)), desc_(options), site_(this->name()) {}
Result<NDArray> LRN::forward(const NDArray& data) { return op::lrn(data, desc_, site_); }

Dropout::Dropout(std::string name, float rate, std::uint64_t seed)
    : Layer(std::move(name)), desc_{rate}, seed_(seed), site_(this->name()) {}
Result<NDArray> Dropout::forward(const NDArray& data) {
  return op::dropout(data, desc_, seed_ * 0x9e3779b97f4a7c15U + calls_++, site_);
}

Flatten::Flatten(std::string name) : Layer(std::move(name)), site_(this->name()) {}
Result<NDArray> Flatten::forward(const NDArray& data) { return op::flatten(data, site_); }

Result<NDArray> SoftmaxCrossEntropy::forward(const NDArray& scores, const NDArray& labels) {
  return op::softmaxCrossEntropy(scores, labels, site_);
}

}  // namespace pitwall::nn
