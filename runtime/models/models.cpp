#include "runtime/models.h"

#include <fmt/format.h>

#include "runtime/models/layers.h"

namespace pitwall::models {
namespace {

struct Entry {
  Model model;
  int variant;  // layers, or percent of the channels
  Result<Symbol> (*make)(int variant, std::int64_t classes);
};

constexpr std::int64_t kUsualSize = 224;
constexpr std::int64_t kSmallSize = 28;  // ResNets of so few pixels are others

// Names as MXNet's examples have them, where v2 of ResNet has no version, and else its model zoo.
constexpr Entry kEntries[] = {
    {{"alexnet", kUsualSize}, 0, [](int, std::int64_t classes) { return alexnet(classes); }},
    {{"densenet121", kUsualSize}, 121, densenet},
    {{"densenet161", kUsualSize}, 161, densenet},
    {{"densenet169", kUsualSize}, 169, densenet},
    {{"densenet201", kUsualSize}, 201, densenet},
    {{"inception-bn", kUsualSize}, 0, [](int, std::int64_t classes) { return inceptionBn(classes); }},
    {{"inception-v3", 299}, 0, [](int, std::int64_t classes) { return inceptionV3(classes); }},
    {{"mobilenet0.25", kUsualSize}, 25, mobilenetV1},
    {{"mobilenet0.5", kUsualSize}, 50, mobilenetV1},
    {{"mobilenet0.75", kUsualSize}, 75, mobilenetV1},
    {{"mobilenet1.0", kUsualSize}, 100, mobilenetV1},
    {{"mobilenetv2_0.25", kUsualSize}, 25, mobilenetV2},
    {{"mobilenetv2_0.5", kUsualSize}, 50, mobilenetV2},
    {{"mobilenetv2_0.75", kUsualSize}, 75, mobilenetV2},
    {{"mobilenetv2_1.0", kUsualSize}, 100, mobilenetV2},
    {{"resnet-101", kUsualSize}, 101, resnetV2},
    {{"resnet-110", kSmallSize}, 110, resnetV2},
    {{"resnet-14", kSmallSize}, 14, resnetV2},
    {{"resnet-152", kUsualSize}, 152, resnetV2},
    {{"resnet-18", kUsualSize}, 18, resnetV2},
    {{"resnet-20", kSmallSize}, 20, resnetV2},
    {{"resnet-200", kUsualSize}, 200, resnetV2},
    {{"resnet-34", kUsualSize}, 34, resnetV2},
    {{"resnet-50", kUsualSize}, 50, resnetV2},
    {{"resnet-8", kSmallSize}, 8, resnetV2},
    {{"resnetv1-101", kUsualSize}, 101, resnetV1},
    {{"resnetv1-152", kUsualSize}, 152, resnetV1},
    {{"resnetv1-18", kUsualSize}, 18, resnetV1},
    {{"resnetv1-200", kUsualSize}, 200, resnetV1},
    {{"resnetv1-34", kUsualSize}, 34, resnetV1},
    {{"resnetv1-50", kUsualSize}, 50, resnetV1},
    {{"squeezenet1.0", kUsualSize}, 0, [](int, std::int64_t classes) { return squeezenet10(classes); }},
    {{"squeezenet1.1", kUsualSize}, 0, [](int, std::int64_t classes) { return squeezenet11(classes); }},
    {{"vgg-11", kUsualSize}, 11, vgg},
    {{"vgg-13", kUsualSize}, 13, vgg},
    {{"vgg-16", kUsualSize}, 16, vgg},
    {{"vgg-19", kUsualSize}, 19, vgg},
    {{"vgg11_bn", kUsualSize}, 11, vggNormalised},
    {{"vgg13_bn", kUsualSize}, 13, vggNormalised},
    {{"vgg16_bn", kUsualSize}, 16, vggNormalised},
    {{"vgg19_bn", kUsualSize}, 19, vggNormalised},
};

}  // namespace

std::span<const Model> all() {
  static const std::vector<Model> models = [] {
    std::vector<Model> result;
    for (const Entry& entry : kEntries) result.push_back(entry.model);
    return result;
  }();
  return models;
}

Result<Symbol> make(std::string_view name, std::int64_t classes) {
  if (classes < 1)
    return fail(ErrorCode::invalidInput, fmt::format("{}: {} classes, must be at least 1", name, classes));
  std::string known;
  for (const Entry& entry : kEntries) {
    if (name == entry.model.name) return entry.make(entry.variant, classes);
    known += (known.empty() ? "" : ", ") + std::string(entry.model.name);
  }
  return fail(ErrorCode::notFound, fmt::format("there is no network {}; there are {}", name, known));
}

}  // namespace pitwall::models
