#include <fmt/format.h>

#include "db/try.h"
#include "runtime/nn/make_parameter.h"

namespace pitwall::nn {

BatchNorm::BatchNorm(std::string name, const BatchNormDesc& options)
    : Layer(std::move(name)),
      desc_(options),
      gamma_(makeConstant(this->name() + ".gamma", 1)),
      beta_(makeConstant(this->name() + ".beta", 0)),
      running_mean_(makeConstant(this->name() + ".running_mean", 0, false)),
      running_variance_(makeConstant(this->name() + ".running_variance", 1, false)),
      site_(this->name()) {}

std::vector<ParameterPtr> BatchNorm::parameters() const {
  return {gamma_, beta_, running_mean_, running_variance_};
}

Result<NDArray> BatchNorm::forward(const NDArray& data) {
  if (data.shape().rank() < 2)
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: BatchNorm: data {} must have 2 or 4 axes", name(), data.shape().toString()));
  for (const ParameterPtr& parameter : parameters()) {
    PITWALL_TRY(parameter->make(data.session(), {data.shape()[1]}, data.device()));
  }
  return op::batchNorm(data, {gamma_->value, beta_->value, running_mean_->value, running_variance_->value},
                       desc_, site_);
}

}  // namespace pitwall::nn
