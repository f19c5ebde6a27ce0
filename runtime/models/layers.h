// Composes a network, with one check at the end: after an error each layer returns its input.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/symbol.h"

namespace pitwall::models {

struct Extent2 {
  std::int64_t height, width;
};

struct ConvolutionOptions {
  std::int64_t channels = 1;
  Extent2 kernel{1, 1}, stride{1, 1}, pad{0, 0};
  std::int64_t groups = 1;
  bool bias = true;
  const char* workspace = nullptr;  // as the original has it; of no effect
};

struct PoolingOptions {
  const char* type = "max";
  Extent2 kernel{2, 2}, stride{1, 1}, pad{0, 0};
  bool global = false;
  bool full = false;  // as many windows as begin inside
};

struct BatchNormOptions {
  const char* epsilon = nullptr;  // null: the operator's own
  const char* momentum = nullptr;
  bool fix_gamma = true;
};

class Layers {
 public:
  Symbol apply(std::string_view op, const std::string& name, const std::vector<Symbol>& inputs,
               Attributes attributes = {});

  Symbol convolution(const std::string& name, const Symbol& data, const ConvolutionOptions& options) {
    return convolution(name, std::vector{data}, options);
  }
  // With its weight, and bias, among the inputs.
  Symbol convolution(const std::string& name, const std::vector<Symbol>& inputs,
                     const ConvolutionOptions& options);
  Symbol batchNorm(const std::string& name, const Symbol& data, const BatchNormOptions& options);
  Symbol relu(const std::string& name, const Symbol& data);
  Symbol pooling(const std::string& name, const Symbol& data, const PoolingOptions& options);
  Symbol dense(const std::string& name, const Symbol& data, std::int64_t units);
  Symbol dropout(const std::string& name, const Symbol& data);
  Symbol concat(const std::string& name, const std::vector<Symbol>& parts);

  // The classifier's end, or the first error.
  Result<Symbol> softmax(const Symbol& scores);

 private:
  Status status_;
};

// Each in the file of its name.
Result<Symbol> alexnet(std::int64_t classes);
Result<Symbol> vgg(int layers, std::int64_t classes);
Result<Symbol> vggNormalised(int layers, std::int64_t classes);  // vgg.cpp, with BatchNorm
Result<Symbol> densenet(int layers, std::int64_t classes);
// `percent` of the channels.
Result<Symbol> mobilenetV1(int percent, std::int64_t classes);  // mobilenet.cpp
Result<Symbol> mobilenetV2(int percent, std::int64_t classes);
Result<Symbol> squeezenet10(std::int64_t classes);  // squeezenet.cpp: versions 1.0 and 1.1
Result<Symbol> squeezenet11(std::int64_t classes);
Result<Symbol> inceptionBn(std::int64_t classes);
Result<Symbol> inceptionV3(std::int64_t classes);
Result<Symbol> resnetV1(int layers, std::int64_t classes);
Result<Symbol> resnetV2(int layers, std::int64_t classes);

}  // namespace pitwall::models
