#include <fmt/format.h>

#include "db/try.h"
#include "runtime/nn/make_parameter.h"

namespace pitwall::nn {

Conv2D::Conv2D(std::string name, const Conv2DOptions& options)
    : Layer(std::move(name)),
      desc_{.kernel = options.kernel,
            .stride = options.stride,
            .pad = options.pad,
            .dilate = options.dilate,
            .channels = options.channels,
            .groups = options.groups,
            .bias = options.bias},
      weight_(makeWeight(this->name())),
      bias_(options.bias ? makeConstant(this->name() + ".bias", 0) : nullptr),
      site_(this->name()) {}

std::vector<ParameterPtr> Conv2D::parameters() const {
  return bias_ != nullptr ? std::vector{weight_, bias_} : std::vector{weight_};
}

Result<NDArray> Conv2D::forward(const NDArray& data) {
  if (!weight_->value) {
    const Shape& shape = data.shape();
    if (shape.rank() != 4 || desc_.groups < 1 || shape[1] % desc_.groups != 0)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: Convolution: data {} must have 4 axes (NCHW) and a multiple of {} channels",
                      name(), shape.toString(), desc_.groups));
    PITWALL_TRY(weight_->make(data.session(),
                              {desc_.channels, shape[1] / desc_.groups, desc_.kernel[0], desc_.kernel[1]},
                              data.device()));
    if (bias_ != nullptr) PITWALL_TRY(bias_->make(data.session(), {desc_.channels}, data.device()));
  }
  return op::convolution(data, {weight_->value, arrayOf(bias_)}, desc_, site_);
}

}  // namespace pitwall::nn
