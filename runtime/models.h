// Known networks for the classification of images, as MXNet's examples define them: the same operators, attributes and
// names, so that their trained parameters fit.
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

// alexnet, inception-bn, inception-v3, resnet-50, ..., vgg-16: all, in the order of their names.
std::span<const Model> all();

// The network from "data" to "softmax_output". Errors: notFound, naming those that are known; invalidInput for less than
// one class.
Result<Symbol> make(std::string_view name, std::int64_t classes = 1000);

}  // namespace pitwall::models
