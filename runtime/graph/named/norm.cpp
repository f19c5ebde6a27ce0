// Normalisations: BatchNorm, LayerNorm.
#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/layer_norm.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kBatchNormRules[] = {
    {"eps", kReal, "0.001"},
    {"momentum", kReal, "0.9"},
    {"fix_gamma", kBoolean, "True"},
    {"use_global_stats", kBoolean, "False"},
    {"output_mean_var", kBoolean, "False"},
    {"axis", kInteger, "1"},
    {"cudnn_off", kBoolean, "False"},
    {"min_calib_range", kReal, "None", "", 0, true},
    {"max_calib_range", kReal, "None", "", 0, true},
};

constexpr AttributeRule kLayerNormRules[] = {
    {"axis", kInteger, "-1"},
    {"eps", kReal, "1e-05"},
    {"output_mean_var", kBoolean, "False"},
};

std::vector<std::string> batchNormOutputs(const Attributes&) { return {"output", "mean", "var"}; }

int batchNormVisible(const Attributes& a) {
  return AttributeReader(kBatchNormRules, a).boolean("output_mean_var") ? 3 : 1;
}

// Output 0 is as data; gamma, beta, the states and the further outputs have its extent in the axis.
Status batchNormShapes(const Attributes& a, NodeShapes& s) {
  PITWALL_TRY(equate(s.inputs[0], s.outputs[0], "output"));
  if (!s.inputs[0]) return {};
  const Shape data = *s.inputs[0];
  const int axis =
      PITWALL_TRY(axisOf(AttributeReader(kBatchNormRules, a).integer("axis"), data.rank(), "axis"));
  const Shape channels{data[axis]};
  constexpr const char* kNames[] = {"data", "gamma", "beta", "moving_mean", "moving_var"};
  for (std::size_t i = 1; i < s.inputs.size(); ++i) {
    PITWALL_TRY(assign(s.inputs[i], channels, kNames[i]));
    PITWALL_TRY(assign(s.inputs[0], with(data, axis, (*s.inputs[i])[0]), "data"));
  }
  for (std::size_t i = 1; i < s.outputs.size(); ++i) PITWALL_TRY(assign(s.outputs[i], channels, "output"));
  return {};
}

Result<Lowered> lowerBatchNorm(const Attributes& a, const NodeShapes& s, bool training) {
  const AttributeReader read(kBatchNormRules, a);
  const int axis = PITWALL_TRY(axisOf(read.integer("axis"), s.inputs[0]->rank(), "axis"));
  if (axis != 1) return noKernel(fmt::format("axis={}", axis));
  BatchNormDesc desc;
  desc.epsilon = static_cast<float>(read.real("eps"));
  desc.momentum = static_cast<float>(read.real("momentum"));
  desc.fix_gamma = read.boolean("fix_gamma");
  desc.use_global_stats = read.boolean("use_global_stats");
  Lowered result;
  result.desc = desc;
  result.inputs = {0, 1, 2, 3, 4};
  result.outputs = {0};
  if (training) {
    result.inputs = {0, 1, 2};
    result.outputs = {0, 1, 2};
    result.updates = {3, 4};
    // Not the forward kernel again, which would update the states twice.
    result.gradient.recomputation =
        Recomputation{desc,
                      Pass::inference,
                      {from::input(0), from::input(1), from::input(2), from::output(1), from::output(2)}};
    result.gradient.kernels = {
        {.name = "_backward_BatchNorm",
         .desc = desc,
         .inputs = {from::input(0), from::input(1), from::output(1), from::output(2), from::gradient()},
         .gradients = {0, 1, 2},
         .flop = 11 * s.outputs[0]->elements()}};
  }
  return result;
}

std::vector<std::string> layerNormOutputs(const Attributes&) { return {"output", "mean", "std"}; }

int layerNormVisible(const Attributes& a) {
  return AttributeReader(kLayerNormRules, a).boolean("output_mean_var") ? 3 : 1;
}

Status layerNormShapes(const Attributes& a, NodeShapes& s) {
  PITWALL_TRY(equate(s.inputs[0], s.outputs[0], "output"));
  if (!s.inputs[0]) return {};
  const Shape data = *s.inputs[0];
  const int axis =
      PITWALL_TRY(axisOf(AttributeReader(kLayerNormRules, a).integer("axis"), data.rank(), "axis"));
  PITWALL_TRY(assign(s.inputs[1], {data[axis]}, "gamma"));
  PITWALL_TRY(assign(s.inputs[2], {data[axis]}, "beta"));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    PITWALL_TRY(assign(s.outputs[i], with(data, axis, 1), "output"));
  return {};
}

Result<Lowered> lowerLayerNorm(const Attributes& a, const NodeShapes& s, bool training) {
  const AttributeReader read(kLayerNormRules, a);
  const int rank = s.inputs[0]->rank(), axis = PITWALL_TRY(axisOf(read.integer("axis"), rank, "axis"));
  if (axis != rank - 1) return noKernel(fmt::format("axis={} of {} axes", axis, rank));
  if (read.boolean("output_mean_var")) return noKernel("output_mean_var=True");
  const LayerNormDesc desc{static_cast<float>(read.real("eps"))};
  auto result = lowered(desc, 3);
  result->has_workspace = training;  // the statistics, in other shapes than MXNet's
  return withGradient(std::move(result), {.name = "_backward_LayerNorm",
                                          .desc = desc,
                                          .inputs = {from::input(0), from::input(1), from::extra(0),
                                                     from::extra(1), from::gradient()},
                                          .gradients = {0, 1, 2},
                                          .flop = 11 * s.outputs[0]->elements()});
}

constexpr NamedOperator kNormOperators[] = {
    {"BatchNorm", kBatchNormRules,
     [](const Attributes&) -> std::vector<std::string> {
       return {"data", "gamma", "beta"};
     },
     [](const Attributes&) -> std::vector<std::string> {
       return {"moving_mean", "moving_var"};
     },
     batchNormOutputs, batchNormVisible, batchNormShapes, lowerBatchNorm,
     [](const Attributes&, const NodeShapes& s) -> Flop { return 2 * s.outputs[0]->elements(); }, nullptr,
     false,
     [](const Attributes&, NodeTypes& types) -> Status {
       for (auto* const list : {&types.inputs, &types.outputs})
         for (std::size_t i = 1; i < list->size(); ++i) (*list)[i].kind = TypeSlot::Kind::wide;
       return {};
     }},
    {"LayerNorm", kLayerNormRules,
     [](const Attributes&) -> std::vector<std::string> {
       return {"data", "gamma", "beta"};
     },
     noStates, layerNormOutputs, layerNormVisible, layerNormShapes, lowerLayerNorm,
     [](const Attributes&, const NodeShapes& s) -> Flop { return 8 * s.outputs[0]->elements(); }},
};

}  // namespace

std::span<const NamedOperator> normOperators() { return kNormOperators; }

}  // namespace pitwall::graph
