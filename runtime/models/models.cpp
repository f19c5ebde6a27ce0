#include "runtime/models.h"

#include <fmt/format.h>

#include "runtime/models/layers.h"

namespace pitwall::models {
namespace {

struct Entry {
  Model model;
  int layers;
  Result<Symbol> (*make)(int layers, std::int64_t classes);
};

constexpr std::int64_t kUsualSize = 224;

// MXNet's examples name v2 without a version.
constexpr Entry kEntries[] = {
    {{"alexnet", kUsualSize}, 0, [](int, std::int64_t classes) { return alexnet(classes); }},
    {{"inception-bn", kUsualSize}, 0, [](int, std::int64_t classes) { return inceptionBn(classes); }},
    {{"inception-v3", 299}, 0, [](int, std::int64_t classes) { return inceptionV3(classes); }},
    {{"resnet-101", kUsualSize}, 101, resnetV2},
    {{"resnet-152", kUsualSize}, 152, resnetV2},
    {{"resnet-18", kUsualSize}, 18, resnetV2},
    {{"resnet-200", kUsualSize}, 200, resnetV2},
    {{"resnet-34", kUsualSize}, 34, resnetV2},
    {{"resnet-50", kUsualSize}, 50, resnetV2},
    {{"resnetv1-101", kUsualSize}, 101, resnetV1},
    {{"resnetv1-152", kUsualSize}, 152, resnetV1},
    {{"resnetv1-18", kUsualSize}, 18, resnetV1},
    {{"resnetv1-200", kUsualSize}, 200, resnetV1},
    {{"resnetv1-34", kUsualSize}, 34, resnetV1},
    {{"resnetv1-50", kUsualSize}, 50, resnetV1},
    {{"vgg-11", kUsualSize}, 11, vgg},
    {{"vgg-13", kUsualSize}, 13, vgg},
    {{"vgg-16", kUsualSize}, 16, vgg},
    {{"vgg-19", kUsualSize}, 19, vgg},
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
    if (name == entry.model.name) return entry.make(entry.layers, classes);
    known += (known.empty() ? "" : ", ") + std::string(entry.model.name);
  }
  return fail(ErrorCode::notFound, fmt::format("there is no network {}; there are {}", name, known));
}

}  // namespace pitwall::models
