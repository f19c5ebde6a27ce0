// Windows over images without weights: pooling, and LRN over channels. Channels are axis 1.
#include "runtime/operators/pooling.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/graph/named/window.h"
#include "runtime/operators/lrn.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kPoolingRules[] = {
    {"kernel", kTuple, "()", "", 1, false, kLargestWindow},
    {"pool_type", kChoice, "max", "max|avg|sum|lp"},
    {"global_pool", kBoolean, "False"},
    {"pooling_convention", kChoice, "valid", "valid|full|same"},
    {"stride", kTuple, "()", "", 1, false, kLargestWindow},
    {"pad", kTuple, "()", "", 0, false, kLargestWindow},
    {"count_include_pad", kBoolean, "None", "", 0, true},
    {"p_value", kInteger, "None", "", 1, true},
    {"layout", kChoice, "None", kLayouts, 0, true},
    {"cudnn_off", kBoolean, "False"},
};

constexpr AttributeRule kLrnRules[] = {
    {"nsize", kInteger, nullptr, "", 1},
    {"alpha", kReal, "0.0001"},
    {"beta", kReal, "0.75"},
    {"knorm", kReal, "2"},
};

// MXNet with oneDNN counts the workspace of a maximum as an output, which is never visible.
std::vector<std::string> poolingOutputs(const Attributes& attributes) {
  const AttributeReader read(kPoolingRules, attributes);
  if (read.choice("pool_type") != "max" || read.tuple("kernel").empty()) return {"output"};
  return {"output", "workspace"};
}

Status poolingShapes(const Attributes& attributes, NodeShapes& s) {
  const AttributeReader read(kPoolingRules, attributes);
  auto &data = s.inputs[0], &out = s.outputs[0];
  if (!data) return {};
  if (data->rank() < 3 || data->rank() > 5)
    return wrong(fmt::format("data has shape {}, must have 3 to 5 axes", shapeText(*data)));
  PITWALL_TRY(checkLayout(read));
  Shape result{(*data)[0], (*data)[1]};
  if (read.boolean("global_pool")) {
    for (int i = 2; i < data->rank(); ++i) result.append(1);
  } else {
    if (read.choice("pooling_convention") == "same")
      return fail(ErrorCode::unsupported, "pooling_convention=same: must be valid or full");
    const WindowAttributes window = PITWALL_TRY(windowAttributes(read, false));
    PITWALL_TRY(checkImages(data, window, "data"));
    for (std::size_t i = 0; i < window.kernel.size(); ++i) {
      if (window.pad[i] >= window.kernel[i])
        return wrong(fmt::format("pad {} must be less than kernel {}", window.pad[i], window.kernel[i]));
      const std::int64_t places = PITWALL_TRY(windowSteps(window, i, (*data)[static_cast<int>(i) + 2],
                                                          read.choice("pooling_convention") == "full"));
      result.append(places);
    }
  }
  for (auto& output : s.outputs) PITWALL_TRY(assign(output, result, "output"));
  return assign(data, with(with(*data, 0, (*out)[0]), 1, (*out)[1]), "data");
}

// One comparison or addition for each element in each window.
Flop poolingFlop(const Attributes& attributes, const NodeShapes& s) {
  const AttributeReader read(kPoolingRules, attributes);
  if (read.boolean("global_pool")) return s.inputs[0]->elements();
  Flop flop = s.outputs[0]->elements();
  for (const std::int64_t extent : read.tuple("kernel")) flop = times({flop, extent});
  return flop;
}

Result<std::int8_t> normPower(const AttributeReader& read) {
  const auto power = read.integerOrNone("p_value");
  if (!power) return wrong("pool_type=lp needs p_value: 1, 2 or 3");
  if (*power > 3) return noKernel(fmt::format("p_value={}: must be 1, 2 or 3", *power));
  return static_cast<std::int8_t>(*power);
}

Result<Lowered> lowerPooling(const Attributes& attributes, const NodeShapes& s, bool training) {
  const AttributeReader read(kPoolingRules, attributes);
  if (s.inputs[0]->rank() > 4) return noKernel(fmt::format("pooling of {}", shapeText(*s.inputs[0])));
  const std::string_view type = read.choice("pool_type");
  PoolingDesc desc;
  desc.type = type == "max"   ? PoolingType::max
              : type == "avg" ? PoolingType::average
              : type == "sum" ? PoolingType::sum
                              : PoolingType::norm;
  if (desc.type == PoolingType::norm) desc.power = PITWALL_TRY(normPower(read));
  desc.count_padding = read.isNone("count_include_pad") || read.boolean("count_include_pad");
  desc.global = read.boolean("global_pool");
  if (!desc.global) {
    const WindowAttributes window = PITWALL_TRY(windowAttributes(read, false));
    desc.kernel = twoAxes(window.kernel, 1);
    desc.stride = twoAxes(window.stride, 1);
    desc.pad = twoAxes(window.pad, 0);
    if (read.choice("pooling_convention") == "full") desc.convention = PoolingConvention::full;
  }
  auto result = lowered(desc);
  result->has_workspace = training;
  const bool reads = desc.type == PoolingType::norm;
  return withGradient(std::move(result), {.name = "_backward_Pooling",
                                          .desc = desc,
                                          .inputs = {reads ? from::input(0) : from::unread(from::input(0)),
                                                     reads ? from::output(0) : from::unread(from::output(0)),
                                                     from::gradient(), from::extra(0)},
                                          .gradients = {0},
                                          .flop = poolingFlop(attributes, s)});
}

Result<Lowered> lowerLrn(const Attributes& attributes, const NodeShapes& s, bool training) {
  const AttributeReader read(kLrnRules, attributes);
  LrnDesc desc;
  desc.alpha = static_cast<float>(read.real("alpha"));
  desc.beta = static_cast<float>(read.real("beta"));
  desc.knorm = static_cast<float>(read.real("knorm"));
  desc.nsize = read.integer("nsize");
  auto result = lowered(desc);
  result->has_workspace = training;
  return withGradient(std::move(result), {.name = "_backward_LRN",
                                          .desc = desc,
                                          .inputs = {from::input(0), from::gradient(), from::extra(0)},
                                          .gradients = {0},
                                          .flop = times({2 * desc.nsize + 11, s.outputs[0]->elements()})});
}

constexpr NamedOperator kPoolingOperators[] = {
    {"Pooling", kPoolingRules, onlyData, noStates, poolingOutputs, oneVisible, poolingShapes, lowerPooling,
     poolingFlop},
    {"LRN", kLrnRules, onlyData, noStates,
     [](const Attributes&) -> std::vector<std::string> {
       return {"output", "tmp_norm"};
     },
     oneVisible, sameShapes, lowerLrn,
     [](const Attributes& a, const NodeShapes& s) -> Flop {
       return times({s.outputs[0]->elements(), 2 * AttributeReader(kLrnRules, a).integer("nsize") + 3});
     }},
};

}  // namespace

std::span<const NamedOperator> poolingOperators() { return kPoolingOperators; }

}  // namespace pitwall::graph
