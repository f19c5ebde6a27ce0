// Known networks for the classification of images, as MXNet's examples define them, and its model zoo those that the examples do
// not have: the same operators, attributes and names of parameters, so that trained ones fit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/symbol.h"

namespace pitwall::models {

struct Model {
  const char* name;         // "resnet-50"
  std::int64_t image_size;  // that the network is made for: data is N x 3 x 224 x 224
};

// alexnet, densenet121, inception-v3, mobilenet1.0, resnet-50, ..., vgg16_bn: all, in the order of their names.
std::span<const Model> all();

// The network from "data" to "softmax_output". Errors: notFound, naming those that are known; invalidInput for less than
// one class.
Result<Symbol> make(std::string_view name, std::int64_t classes = 1000);

}  // namespace pitwall::models
