// He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition (v1), and Identity Mappings in Deep Residual Networks
// (v2, where normalisation and activation come before each convolution).
#include <fmt/format.h>

#include <vector>

#include "runtime/models/layers.h"

namespace pitwall::models {
namespace {

struct Depth {
  std::vector<int> units;  // by stage
  bool bottleneck = false;
  bool small_images =
      false;  // of some tens of pixels: fewer channels, and nothing halves them before the stages
};

Depth depthOf(int layers) {
  if (layers < 18 || layers == 20 || layers == 110) {
    const int each = (layers - 2) / 6;
    return {{each, each, each}, false, true};
  }
  switch (layers) {
    case 18: return {{2, 2, 2, 2}, false};
    case 34: return {{3, 4, 6, 3}, false};
    case 50: return {{3, 4, 6, 3}, true};
    case 101: return {{3, 4, 23, 3}, true};
    case 152: return {{3, 8, 36, 3}, true};
    default: return {{3, 24, 36, 3}, true};  // 200
  }
}

// One residual unit: its name, and how it changes the data.
struct Unit {
  std::string name;
  std::int64_t channels;
  std::int64_t stride;
  bool projects;  // the shortcut has a convolution
};

class Resnet {
 public:
  explicit Resnet(bool bottleneck) : bottleneck_(bottleneck) {}

  Symbol normalised(const std::string& name, const Symbol& data, bool fix_gamma = false) {
    return net_.batchNorm(name, data, {.epsilon = "2e-05", .momentum = "0.9", .fix_gamma = fix_gamma});
  }

  Symbol convolved(const std::string& name, const Symbol& data, std::int64_t channels, std::int64_t kernel,
                   std::int64_t stride) {
    const std::int64_t pad = kernel / 2;
    return net_.convolution(name, data,
                            {.channels = channels,
                             .kernel = {kernel, kernel},
                             .stride = {stride, stride},
                             .pad = {pad, pad},
                             .bias = false,
                             .workspace = "256"});
  }

  Symbol stem(const Symbol& data, bool small_images) {
    if (small_images) return convolved("conv0", data, 16, 3, 1);
    const Symbol conv = convolved("conv0", data, 64, 7, 2);
    const Symbol active = net_.relu("relu0", normalised("bn0", conv));
    return net_.pooling("pooling0", active, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}});
  }

  Symbol sum(const Symbol& a, const Symbol& b) {
    return net_.apply("elemwise_add", fmt::format("_plus{}", sums_++), {a, b});
  }

  Symbol unitV1(const Unit& unit, const Symbol& data) {
    Symbol body = data;
    if (bottleneck_) {
      body = step(unit, 1, body, unit.channels / 4, 1, unit.stride);
      body = step(unit, 2, body, unit.channels / 4, 3, 1);
      body = normalised(unit.name + "_bn3", convolved(unit.name + "_conv3", body, unit.channels, 1, 1));
    } else {
      body = step(unit, 1, body, unit.channels, 3, unit.stride);
      body = normalised(unit.name + "_bn2", convolved(unit.name + "_conv2", body, unit.channels, 3, 1));
    }
    Symbol shortcut = data;
    if (unit.projects)
      shortcut = normalised(unit.name + "_sc",
                            convolved(unit.name + "_conv1sc", data, unit.channels, 1, unit.stride));
    return net_.relu(unit.name + "_relu3", sum(body, shortcut));
  }

  Symbol unitV2(const Unit& unit, const Symbol& data) {
    const Symbol first = activated(unit, 1, data);
    Symbol body = first;
    if (bottleneck_) {
      body = convolved(unit.name + "_conv1", body, unit.channels / 4, 1, 1);
      body = convolved(unit.name + "_conv2", activated(unit, 2, body), unit.channels / 4, 3, unit.stride);
      body = convolved(unit.name + "_conv3", activated(unit, 3, body), unit.channels, 1, 1);
    } else {
      body = convolved(unit.name + "_conv1", body, unit.channels, 3, unit.stride);
      body = convolved(unit.name + "_conv2", activated(unit, 2, body), unit.channels, 3, 1);
    }
    const Symbol shortcut =
        unit.projects ? convolved(unit.name + "_sc", first, unit.channels, 1, unit.stride) : data;
    return sum(body, shortcut);
  }

  // The units of all stages: the first of a stage halves the image, except in the first stage.
  Symbol stages(const Symbol& data, const Depth& depth, Symbol (Resnet::*add)(const Unit&, const Symbol&)) {
    Symbol body = data;
    std::int64_t channels = depth.bottleneck ? 256 : depth.small_images ? 16 : 64;
    for (std::size_t stage = 0; stage < depth.units.size(); ++stage) {
      for (int i = 0; i < depth.units[stage]; ++i) {
        const Unit unit{fmt::format("stage{}_unit{}", stage + 1, i + 1), channels,
                        stage > 0 && i == 0 ? 2 : 1, i == 0};
        body = (this->*add)(unit, body);
      }
      channels *= 2;
    }
    return body;
  }

  Result<Symbol> classified(const Symbol& data, std::int64_t classes) {
    const Symbol pooled = net_.pooling("pool1", data, {.type = "avg", .kernel = {7, 7}, .global = true});
    return net_.softmax(net_.dense("fc1", net_.apply("Flatten", "flatten0", {pooled}), classes));
  }

  Layers& net() { return net_; }

 private:
  Symbol activated(const Unit& unit, int i, const Symbol& data) {
    return net_.relu(fmt::format("{}_relu{}", unit.name, i),
                     normalised(fmt::format("{}_bn{}", unit.name, i), data));
  }
  Symbol step(const Unit& unit, int i, const Symbol& data, std::int64_t channels, std::int64_t kernel,
              std::int64_t stride) {
    const Symbol conv = convolved(fmt::format("{}_conv{}", unit.name, i), data, channels, kernel, stride);
    return activated(unit, i, conv);
  }

  Layers net_;
  bool bottleneck_;
  int sums_ = 0;
};

}  // namespace

Result<Symbol> resnetV1(int layers, std::int64_t classes) {
  const Depth depth = depthOf(layers);
  Resnet resnet(depth.bottleneck);
  const Symbol data = resnet.net().apply("_copy", "id", {Symbol::variable("data")});
  return resnet.classified(resnet.stages(resnet.stem(data, depth.small_images), depth, &Resnet::unitV1),
                           classes);
}

Result<Symbol> resnetV2(int layers, std::int64_t classes) {
  const Depth depth = depthOf(layers);
  Resnet resnet(depth.bottleneck);
  const Symbol data = resnet.net().apply("_copy", "id", {Symbol::variable("data")});
  const Symbol stem = resnet.stem(resnet.normalised("bn_data", data, true), depth.small_images);
  Symbol body = resnet.stages(stem, depth, &Resnet::unitV2);
  body = resnet.net().relu("relu1", resnet.normalised("bn1", body));
  return resnet.classified(body, classes);
}

}  // namespace pitwall::models
