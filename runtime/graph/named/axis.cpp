// Along axes: Concat, splits, transposes and reductions.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/concat.h"
#include "runtime/operators/reduce.h"
#include "runtime/operators/slice_axis.h"
#include "runtime/operators/slice_channel.h"
#include "runtime/operators/transpose.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kConcatRules[] = {{"num_args", kInteger, nullptr, "", 1, false, kMostCounted},
                                          {"dim", kInteger, "1"}};
constexpr AttributeRule kSplitRules[] = {{"num_outputs", kInteger, nullptr, "", 1, false, kMostCounted},
                                         {"axis", kInteger, "1"},
                                         {"squeeze_axis", kBoolean, "False"}};
constexpr AttributeRule kSliceAxisRules[] = {
    {"axis", kInteger}, {"begin", kInteger}, {"end", kInteger, nullptr, "", -(1LL << 31) + 1, true}};
constexpr AttributeRule kTransposeRules[] = {{"axes", kTuple, "()", "", 0}};
constexpr AttributeRule kSwapRules[] = {{"dim1", kInteger, "0"}, {"dim2", kInteger, "0"}};
constexpr AttributeRule kReduceRules[] = {{"axis", kTuple, "None", "", -Shape::kMaxRank, true},
                                          {"keepdims", kBoolean, "False"},
                                          {"exclude", kBoolean, "False"}};

// All axes but one are those of the output; that one is the sum. A single unknown part is the rest.
Status concatShapes(const Attributes& a, NodeShapes& s) {
  auto& out = s.outputs[0];
  std::optional<Shape> known = out;
  for (const auto& input : s.inputs) {
    if (!known) known = input;
  }
  if (!known) return {};
  const int axis = PITWALL_TRY(axisOf(AttributeReader(kConcatRules, a).integer("dim"), known->rank(), "dim"));
  std::optional<Shape> others = with(*known, axis, 0);
  std::int64_t sum = 0;
  int unknown = 0;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const auto& input = s.inputs[i];
    if (input && input->rank() == known->rank()) {
      sum += (*input)[axis];
      unknown += (*input)[axis] == 0 ? 1 : 0;
      const Status same = assign(others, with(*input, axis, 0), fmt::format("arg{}", i));
      if (!same.has_value())
        return wrong(fmt::format("arg{} has shape {}: all but axis {} must be {}", i, shapeText(*input), axis,
                                 shapeText(*others)));
    } else if (input) {
      return wrong(fmt::format("arg{} has shape {}, must have {} axes", i, shapeText(*input), known->rank()));
    } else {
      ++unknown;
    }
  }
  if (out) PITWALL_TRY(assign(others, with(*out, axis, 0), "output"));
  PITWALL_TRY(assign(out, with(*others, axis, unknown == 0 ? sum : 0), "output"));
  const std::int64_t whole = (*out)[axis], rest = unknown == 1 && whole != 0 ? whole - sum : 0;
  if (unknown == 1 && whole != 0 && rest < 1) return wrong(fmt::format("nothing of {} is left", whole));
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const std::int64_t extent = s.inputs[i] ? (*s.inputs[i])[axis] : 0;
    PITWALL_TRY(assign(s.inputs[i], with(*others, axis, extent != 0 ? extent : rest), "input"));
  }
  return {};
}

std::vector<std::string> splitOutputs(const Attributes& a) {
  const std::int64_t count = AttributeReader(kSplitRules, a).integer("num_outputs");
  if (count == 1) return {"output"};
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("output{}", i));
  return names;
}

Status splitShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kSplitRules, a);
  const auto& data = s.inputs[0];
  if (!data) return {};
  const int axis = PITWALL_TRY(axisOf(read.integer("axis"), data->rank(), "axis"));
  const std::int64_t parts = read.integer("num_outputs"), extent = (*data)[axis];
  if (extent % parts != 0)
    return wrong(fmt::format("{} outputs do not divide axis {} of data {}", parts, axis, shapeText(*data)));
  Shape out = with(*data, axis, extent / parts);
  if (read.boolean("squeeze_axis")) {
    if (extent != 0 && extent != parts)
      return wrong(fmt::format("squeeze_axis needs {} outputs for data {}", extent, shapeText(*data)));
    out = {};
    for (int i = 0; i < data->rank(); ++i) {
      if (i != axis) out.append((*data)[i]);
    }
  }
  for (auto& output : s.outputs) PITWALL_TRY(assign(output, out, "output"));
  return {};
}

Status sliceAxisShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kSliceAxisRules, a);
  const auto& data = s.inputs[0];
  if (!data) return {};
  const int axis = PITWALL_TRY(axisOf(read.integer("axis"), data->rank(), "axis"));
  const std::int64_t extent = (*data)[axis];
  if (extent == 0) return assign(s.outputs[0], *data, "output");
  std::int64_t begin = read.integer("begin"), end = read.integerOrNone("end").value_or(extent);
  begin += begin < 0 ? extent : 0;
  end += end < 0 ? extent : 0;
  if (begin < 0 || end > extent || begin >= end)
    return wrong(
        fmt::format("begin and end are {} and {} of axis {} with {} elements", begin, end, axis, extent));
  return assign(s.outputs[0], with(*data, axis, end - begin), "output");
}

Result<Lowered> lowerSliceAxis(const Attributes& a, const NodeShapes&, bool) {
  const AttributeReader read(kSliceAxisRules, a);
  SliceAxisDesc desc;
  desc.axis = static_cast<int>(read.integer("axis"));
  desc.begin = read.integer("begin");
  desc.end = read.integerOrNone("end").value_or(SliceAxisDesc::kToTheEnd);
  return withGradient(lowered(desc), {.name = "_backward_slice_axis",
                                      .desc = desc,
                                      .inputs = {from::unread(from::input(0)), from::gradient()},
                                      .gradients = {0}});
}

// Output axis i is input axis order[i].
Status permute(NodeShapes& s, const std::vector<int>& order) {
  auto &data = s.inputs[0], &out = s.outputs[0];
  Shape forward, back = *data;
  for (const int axis : order) forward.append((*data)[axis]);
  PITWALL_TRY(assign(out, forward, "output"));
  for (std::size_t i = 0; i < order.size(); ++i) back = with(back, order[i], (*out)[static_cast<int>(i)]);
  return assign(data, back, "data");
}

Result<Lowered> lowerOrder(const std::vector<int>& order) {
  TransposeDesc desc;
  desc.rank = static_cast<int>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) desc.axes[i] = static_cast<std::int8_t>(order[i]);
  return withGradient(
      lowered(desc),
      {.name = "_backward_transpose", .desc = desc, .inputs = {from::gradient()}, .gradients = {0}});
}

Result<std::vector<int>> transposeOrder(const Attributes& a, const Shape& data) {
  const int rank = data.rank();
  std::vector<int> order, sorted;
  for (const std::int64_t given : AttributeReader(kTransposeRules, a).tuple("axes")) {
    const int axis = PITWALL_TRY(axisOf(given, rank, "axes"));
    order.push_back(axis);
  }
  if (order.empty()) {
    for (int i = rank - 1; i >= 0; --i) order.push_back(i);
  }
  sorted = order;
  std::ranges::sort(sorted);
  if (static_cast<int>(sorted.size()) != rank || std::ranges::adjacent_find(sorted) != sorted.end())
    return wrong(fmt::format("axes={} must name each axis of data {} once", a.at("axes"), shapeText(data)));
  return order;
}

Status transposeShapes(const Attributes& a, NodeShapes& s) {
  if (!s.inputs[0]) return {};
  const std::vector<int> order = PITWALL_TRY(transposeOrder(a, *s.inputs[0]));
  return permute(s, order);
}

Result<Lowered> lowerTranspose(const Attributes& a, const NodeShapes& s, bool) {
  const std::vector<int> order = PITWALL_TRY(transposeOrder(a, *s.inputs[0]));
  return lowerOrder(order);
}

Result<std::vector<int>> swapOrder(const Attributes& a, const Shape& data) {
  const AttributeReader read(kSwapRules, a);
  const int rank = data.rank();
  const int first = PITWALL_TRY(axisOf(read.integer("dim1"), rank, "dim1"));
  const int second = PITWALL_TRY(axisOf(read.integer("dim2"), rank, "dim2"));
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i == first ? second : i == second ? first : i);
  return order;
}

Status swapShapes(const Attributes& a, NodeShapes& s) {
  if (!s.inputs[0]) return {};
  const std::vector<int> order = PITWALL_TRY(swapOrder(a, *s.inputs[0]));
  return permute(s, order);
}

Result<Lowered> lowerSwap(const Attributes& a, const NodeShapes& s, bool) {
  const std::vector<int> order = PITWALL_TRY(swapOrder(a, *s.inputs[0]));
  return lowerOrder(order);
}

// Which axes are reduced.
Result<std::vector<bool>> reducedAxes(const AttributeReader& read, const Shape& data) {
  const std::vector<std::int64_t> given = read.tuple("axis");
  const bool all = given.empty(), exclude = read.boolean("exclude") && !all;
  std::vector<bool> reduced(static_cast<std::size_t>(data.rank()), all || exclude);
  for (const std::int64_t each : given) {
    const int axis = PITWALL_TRY(axisOf(each, data.rank(), "axis"));
    reduced[static_cast<std::size_t>(axis)] = !exclude;
  }
  return reduced;
}

Status reduceShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kReduceRules, a);
  if (!s.inputs[0]) return {};
  const Shape& data = *s.inputs[0];
  const std::vector<bool> reduced = PITWALL_TRY(reducedAxes(read, data));
  Shape out;
  for (int i = 0; i < data.rank(); ++i) {
    if (!reduced[static_cast<std::size_t>(i)]) {
      out.append(data[i]);
    } else if (read.boolean("keepdims")) {
      out.append(1);
    }
  }
  if (out.rank() == 0) out = {1};
  return assign(s.outputs[0], out, "output");
}

constexpr const char* kBackwardReduce[] = {"_backward_sum", "_backward_mean", "_backward_max",
                                           "_backward_min"};

template <ReduceType kType>
Result<Lowered> lowerReduce(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kReduceRules, a);
  const std::vector<bool> reduced = PITWALL_TRY(reducedAxes(read, *s.inputs[0]));
  ReduceDesc desc;
  desc.type = kType;
  desc.keep_axes = read.boolean("keepdims");
  for (std::size_t i = 0; i < reduced.size(); ++i)
    desc.axes = static_cast<std::uint8_t>(desc.axes | (reduced[i] ? 1U << i : 0U));
  if (desc.axes == 0) return viewOfInput();
  const bool reads = kType == ReduceType::maximum || kType == ReduceType::minimum;
  const GradientSource data = from::input(0), out = from::output(0);
  return withGradient(lowered(desc), {.name = kBackwardReduce[static_cast<std::size_t>(kType)],
                                      .desc = desc,
                                      .inputs = {reads ? data : from::unread(data),
                                                 reads ? out : from::unread(out), from::gradient()},
                                      .gradients = {0},
                                      .flop = kType == ReduceType::sum ? 0 : s.inputs[0]->elements()});
}

Result<Lowered> lowerSplit(const Attributes& a, const NodeShapes& s, bool) {
  const int count = static_cast<int>(s.outputs.size());
  if (count == 1) return viewOfInput();
  const AttributeReader read(kSplitRules, a);
  SliceChannelDesc desc{.outputs = count, .squeeze = read.boolean("squeeze_axis")};
  desc.axis = PITWALL_TRY(axisOf(read.integer("axis"), s.inputs[0]->rank(), "axis"));
  auto result = lowered(desc);
  GradientKernel whole{.name = "_backward_SliceChannel", .desc = desc, .gradients = {0}};
  for (int i = 0; i < count; ++i) {
    if (i > 0) result->outputs.push_back(i);
    whole.inputs.push_back(from::gradient(i));
  }
  result->gradient.is_kept = true;
  return withGradient(std::move(result), std::move(whole));
}

Result<Lowered> lowerConcat(const Attributes& a, const NodeShapes& s, bool) {
  const int inputs = static_cast<int>(s.inputs.size());
  if (inputs == 1) return viewOfInput();
  const ConcatDesc desc{static_cast<int>(AttributeReader(kConcatRules, a).integer("dim")), inputs};
  GradientKernel parts{.name = "_backward_Concat", .desc = desc};
  for (int i = 0; i < inputs; ++i) {
    parts.inputs.push_back(from::unread(from::input(i)));
    parts.gradients.push_back(i);
  }
  parts.inputs.push_back(from::gradient());
  auto result = withGradient(lowered(desc, inputs), std::move(parts));
  result->gradient.is_kept = true;
  return result;
}

Flop inputElements(const Attributes&, const NodeShapes& s) { return s.inputs[0]->elements(); }

using AxisShapes = Status (*)(const Attributes&, NodeShapes&);

using LowerAxis = Result<Lowered> (*)(const Attributes&, const NodeShapes&, bool);

constexpr NamedOperator reducing(const char* name, LowerAxis lower) {
  return {name, kReduceRules, onlyData, noStates, onlyOutput, oneVisible, reduceShapes, lower, inputElements};
}

constexpr NamedOperator moving(const char* name, std::span<const AttributeRule> rules, AxisShapes shapes,
                               LowerAxis lower) {
  return {name, rules, onlyData, noStates, onlyOutput, oneVisible, shapes, lower, noFlop};
}

constexpr NamedOperator kAxisOperators[] = {
    {"Concat", kConcatRules, countedInputs, noStates, onlyOutput, oneVisible, concatShapes, lowerConcat,
     noFlop, "num_args"},
    {"SliceChannel", kSplitRules, onlyData, noStates, splitOutputs,
     [](const Attributes& a) {
       return static_cast<int>(AttributeReader(kSplitRules, a).integer("num_outputs"));
     },
     splitShapes, lowerSplit, noFlop},
    moving("slice_axis", kSliceAxisRules, sliceAxisShapes, lowerSliceAxis),
    moving("transpose", kTransposeRules, transposeShapes, lowerTranspose),
    moving("SwapAxis", kSwapRules, swapShapes, lowerSwap),
    reducing("sum", lowerReduce<ReduceType::sum>),
    reducing("mean", lowerReduce<ReduceType::mean>),
    reducing("max", lowerReduce<ReduceType::maximum>),
    reducing("min", lowerReduce<ReduceType::minimum>),
};

}  // namespace

std::span<const NamedOperator> axisOperators() { return kAxisOperators; }

}  // namespace pitwall::graph
