#include <fmt/format.h>

#include "db/try.h"
#include "runtime/nn/make_parameter.h"

namespace pitwall::nn {

Dense::Dense(std::string name, const DenseOptions& options)
    : Layer(std::move(name)),
      desc_{.units = options.units, .bias = options.bias},
      weight_(makeWeight(this->name())),
      bias_(options.bias ? makeConstant(this->name() + ".bias", 0) : nullptr),
      site_(this->name()) {}

std::vector<ParameterPtr> Dense::parameters() const {
  return bias_ != nullptr ? std::vector{weight_, bias_} : std::vector{weight_};
}

Result<NDArray> Dense::forward(const NDArray& data) {
  if (!weight_->value) {
    const Shape& shape = data.shape();
    if (shape.rank() < 2 || shape.elements() < 1)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: FullyConnected: data {} must have at least 2 axes", name(), shape.toString()));
    PITWALL_TRY(weight_->make(data.session(), {desc_.units, shape.elements() / shape[0]}, data.device()));
    if (bias_ != nullptr) PITWALL_TRY(bias_->make(data.session(), {desc_.units}, data.device()));
  }
  return op::fullyConnected(data, {weight_->value, arrayOf(bias_)}, desc_, site_);
}

}  // namespace pitwall::nn
