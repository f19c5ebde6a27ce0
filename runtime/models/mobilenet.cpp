// Howard et al.: MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications; Sandler et al.:
// MobileNetV2: Inverted Residuals and Linear Bottlenecks. As MXNet's model zoo has them.
#include <algorithm>

#include "runtime/models/zoo_layers.h"

namespace pitwall::models {
namespace {

struct MobileStep {
  std::int64_t channels, kernel, stride, groups;
};

class Mobilenet {
 public:
  Mobilenet(const std::string& network, int percent) : parts_(network), percent_(percent) {}

  std::int64_t scaled(std::int64_t channels) const { return channels * percent_ / 100; }
  ZooLayers& parts() { return parts_; }

  Symbol normalised(const Symbol& data, const MobileStep& step) {
    const std::int64_t pad = step.kernel / 2;
    const Symbol conv = parts_.convolution(data, {.channels = step.channels,
                                                  .kernel = {step.kernel, step.kernel},
                                                  .stride = {step.stride, step.stride},
                                                  .pad = {pad, pad},
                                                  .groups = step.groups,
                                                  .bias = false});
    return parts_.batchNorm(conv);
  }
  Symbol relu6(const Symbol& data) {
    return parts_.net().apply("clip", parts_.next("relu6") + "_relu6", {data},
                              {{"a_min", "0"}, {"a_max", "6"}});
  }

  // Version 1: a filter for each channel, then a mix of the channels.
  Symbol separable(const Symbol& data, std::int64_t from, std::int64_t to, std::int64_t stride) {
    const Symbol filtered =
        parts_.relu(normalised(data, {.channels = from, .kernel = 3, .stride = stride, .groups = from}));
    return parts_.relu(normalised(filtered, {.channels = to, .kernel = 1, .stride = 1, .groups = 1}));
  }

  // Version 2: `widening` times the channels between two narrow ends, of which the last has no activation.
  Symbol bottleneck(const Symbol& data, std::int64_t from, std::int64_t to, std::int64_t widening,
                    std::int64_t stride) {
    const std::int64_t wide = from * widening;
    Symbol out = relu6(normalised(data, {.channels = wide, .kernel = 1, .stride = 1, .groups = 1}));
    out = relu6(normalised(out, {.channels = wide, .kernel = 3, .stride = stride, .groups = wide}));
    out = normalised(out, {.channels = to, .kernel = 1, .stride = 1, .groups = 1});
    if (stride != 1 || from != to) return out;
    return parts_.net().apply("elemwise_add", parts_.next("elemwise_add"), {out, data});
  }

  Symbol averaged(const Symbol& data) {
    return parts_.pooling(data, {.type = "avg", .kernel = {1, 1}, .global = true, .full = true});
  }

 private:
  ZooLayers parts_;
  int percent_;
};

}  // namespace

Result<Symbol> mobilenetV1(int percent, std::int64_t classes) {
  Mobilenet net("mobilenet0_", percent);
  ZooLayers& parts = net.parts();
  Symbol body = parts.relu(net.normalised(
      Symbol::variable("data"), {.channels = net.scaled(32), .kernel = 3, .stride = 2, .groups = 1}));
  struct Layer {
    std::int64_t channels, stride;
  };
  constexpr Layer kLayers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                               {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  std::int64_t from = 32;
  for (const auto& [channels, stride] : kLayers) {
    body = net.separable(body, net.scaled(from), net.scaled(channels), stride);
    from = channels;
  }
  return parts.net().softmax(parts.dense(parts.flatten(net.averaged(body)), classes));
}

Result<Symbol> mobilenetV2(int percent, std::int64_t classes) {
  Mobilenet net("mobilenetv20_", percent);
  ZooLayers& parts = net.parts();
  parts.enter("features_");
  Symbol body = net.relu6(net.normalised(
      Symbol::variable("data"), {.channels = net.scaled(32), .kernel = 3, .stride = 2, .groups = 1}));
  struct Stage {
    std::int64_t widening, channels;
    int layers;
    std::int64_t stride;  // of its first
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  std::int64_t from = 32;
  int number = 0;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.layers; ++i) {
      parts.enter("features_linearbottleneck" + std::to_string(number++) + "_");
      body = net.bottleneck(body, net.scaled(from), net.scaled(stage.channels), stage.widening,
                            i == 0 ? stage.stride : 1);
      from = stage.channels;
    }
  }
  parts.enter("features_");
  const std::int64_t last = std::max(net.scaled(1280), std::int64_t{1280});
  body = net.averaged(
      net.relu6(net.normalised(body, {.channels = last, .kernel = 1, .stride = 1, .groups = 1})));
  parts.enter("output_");
  body = parts.convolution("mobilenetv20_output_pred", body, {.channels = classes, .bias = false});
  return parts.net().softmax(parts.flatten(body));
}

}  // namespace pitwall::models
