// Convolutions of images. Channels are axis 1.
#include "runtime/operators/convolution.h"

#include <fmt/format.h>

#include <limits>

#include "db/try.h"
#include "runtime/graph/named/window.h"
#include "runtime/operators/deconvolution.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kConvolutionRules[] = {
    {"kernel", kTuple, nullptr, "", 1, false, kLargestWindow},
    {"num_filter", kInteger, nullptr, "", 1},
    {"stride", kTuple, "()", "", 1, false, kLargestWindow},
    {"dilate", kTuple, "()", "", 1, false, kLargestWindow},
    {"pad", kTuple, "()", "", 0, false, kLargestWindow},
    {"num_group", kInteger, "1", "", 1},
    {"no_bias", kBoolean, "False"},
    {"layout", kChoice, "None", kLayouts, 0, true},
    {"workspace", kInteger, "1024", "", 0},
    {"cudnn_tune", kChoice, "None", "off|limited_workspace|fastest", 0, true},
    {"cudnn_off", kBoolean, "False"},
};

constexpr AttributeRule kDeconvolutionRules[] = {
    {"kernel", kTuple, nullptr, "", 1, false, kLargestWindow},
    {"num_filter", kInteger, nullptr, "", 1},
    {"stride", kTuple, "()", "", 1, false, kLargestWindow},
    {"dilate", kTuple, "()", "", 1, false, kLargestWindow},
    {"pad", kTuple, "()", "", 0, false, kLargestWindow},
    {"adj", kTuple, "()", "", 0},
    {"target_shape", kTuple, "()", "", 0},
    {"num_group", kInteger, "1", "", 1},
    {"no_bias", kBoolean, "True"},
    {"layout", kChoice, "None", kLayouts, 0, true},
    {"workspace", kInteger, "512", "", 0},
    {"cudnn_tune", kChoice, "None", "off|limited_workspace|fastest", 0, true},
    {"cudnn_off", kBoolean, "False"},
};

std::vector<std::string> weighted(const Attributes& attributes, std::span<const AttributeRule> rules) {
  if (AttributeReader(rules, attributes).boolean("no_bias")) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

Status assignBias(NodeShapes& s, std::int64_t channels) {
  return s.inputs.size() > 2 ? assign(s.inputs[2], {channels}, "bias") : Status();
}

Status convolutionShapes(const Attributes& attributes, NodeShapes& s) {
  const AttributeReader read(kConvolutionRules, attributes);
  const WindowAttributes window = PITWALL_TRY(windowAttributes(read, true));
  const std::int64_t channels = read.integer("num_filter"), groups = read.integer("num_group");
  auto &data = s.inputs[0], &weight = s.inputs[1], &out = s.outputs[0];
  PITWALL_TRY(checkLayout(read));
  PITWALL_TRY(checkImages(data, window, "data"));
  PITWALL_TRY(checkImages(weight, window, "weight"));
  PITWALL_TRY(checkImages(out, window, "output"));
  if (channels % groups != 0 || (data && (*data)[1] % groups != 0)) {
    return wrong(fmt::format("num_group={} must divide num_filter={} and the channels of data {}", groups,
                             channels, data ? shapeText(*data) : "?"));
  }
  Shape expected_weight{channels, data ? (*data)[1] / groups : 0};
  for (const std::int64_t extent : window.kernel) expected_weight.append(extent);
  PITWALL_TRY(assign(weight, expected_weight, "weight"));
  PITWALL_TRY(assignBias(s, channels));
  Shape from_data{data ? (*data)[0] : 0, channels},
      from_out{out ? (*out)[0] : 0, times({(*weight)[1], groups})};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const int axis = static_cast<int>(i) + 2;
    const std::int64_t places = PITWALL_TRY(windowSteps(window, i, data ? (*data)[axis] : 0, false));
    from_data.append(places);
    const std::int64_t result = out ? (*out)[axis] : 0;
    from_out.append(
        result != 0 && window.stride[i] == 1 ? result + windowReach(window, i) - 1 - 2 * window.pad[i] : 0);
    if (from_out[axis] < 0) return wrong(fmt::format("no data gives an output of {}", shapeText(*out)));
  }
  PITWALL_TRY(assign(out, from_data, "output"));
  return assign(data, from_out, "data");
}

Status deconvolutionShapes(const Attributes& attributes, NodeShapes& s) {
  const AttributeReader read(kDeconvolutionRules, attributes);
  const WindowAttributes window = PITWALL_TRY(windowAttributes(read, true));
  const auto added = PITWALL_TRY(perAxis(read, "adj", window.kernel.size(), 0));
  const auto target = PITWALL_TRY(perAxis(read, "target_shape", window.kernel.size(), 0));
  const std::int64_t channels = read.integer("num_filter"), groups = read.integer("num_group");
  auto &data = s.inputs[0], &weight = s.inputs[1], &out = s.outputs[0];
  PITWALL_TRY(checkLayout(read));
  PITWALL_TRY(checkImages(data, window, "data"));
  PITWALL_TRY(checkImages(out, window, "output"));
  if (channels % groups != 0 || (data && (*data)[1] % groups != 0))
    return wrong(
        fmt::format("num_group={} must divide num_filter={} and the channels of data", groups, channels));
  Shape expected_weight{data ? (*data)[1] : 0, channels / groups}, result{data ? (*data)[0] : 0, channels};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    expected_weight.append(window.kernel[i]);
    const std::int64_t extent = data ? (*data)[static_cast<int>(i) + 2] : 0;
    const std::int64_t fitted =
        window.stride[i] * (extent - 1) + windowReach(window, i) - 2 * window.pad[i] + added[i];
    if (extent != 0 && target[i] == 0 && fitted < 1)
      return wrong(fmt::format("data {} with pad {} has no output", shapeText(*data), window.pad[i]));
    result.append(target[i] != 0 ? target[i] : extent == 0 ? 0 : fitted);
  }
  PITWALL_TRY(assign(weight, expected_weight, "weight"));
  PITWALL_TRY(assignBias(s, channels));
  PITWALL_TRY(assign(out, result, "output"));
  return data ? assign(data, with(with(*data, 0, (*out)[0]), 1, (*weight)[0]), "data") : Status();
}

Flop convolutionFlop(const Attributes&, const NodeShapes& s) {
  const std::int64_t out = s.outputs[0]->elements();
  return times({2, out, product(*s.inputs[1], 1, s.inputs[1]->rank())}) + (s.inputs.size() > 2 ? out : 0);
}

Flop deconvolutionFlop(const Attributes&, const NodeShapes& s) {
  return times({2, s.inputs[0]->elements(), product(*s.inputs[1], 1, s.inputs[1]->rank())}) +
         (s.inputs.size() > 2 ? s.outputs[0]->elements() : 0);
}

Result<Lowered> lowerConvolution(const Attributes& attributes, const NodeShapes& s, bool) {
  const AttributeReader read(kConvolutionRules, attributes);
  const WindowAttributes window = PITWALL_TRY(windowAttributes(read, true));
  if (window.rank() > 2) return noKernel(fmt::format("a convolution of {} axes", window.rank()));
  ConvolutionDesc desc;
  desc.kernel = twoAxes(window.kernel, 1);
  desc.stride = twoAxes(window.stride, 1);
  desc.pad = twoAxes(window.pad, 0);
  desc.dilate = twoAxes(window.dilate, 1);
  desc.channels = read.integer("num_filter");
  desc.groups = read.integer("num_group");
  desc.bias = s.inputs.size() > 2;
  auto result = lowered(desc, static_cast<int>(s.inputs.size()));
  result->gradient =
      weightedRule("_backward_Convolution", desc, s.inputs.size(), convolutionFlop(attributes, s));
  result->gradient.is_kept = true;
  return result;
}

// A target_shape replaces pad and adj: what is too much is cut from both sides.
Result<Lowered> lowerDeconvolution(const Attributes& attributes, const NodeShapes& s, bool) {
  constexpr std::int64_t kMostAdjusted = std::numeric_limits<std::int16_t>::max();
  const AttributeReader read(kDeconvolutionRules, attributes);
  const WindowAttributes window = PITWALL_TRY(windowAttributes(read, true));
  if (window.rank() != 2) return noKernel(fmt::format("a deconvolution of {} axes", window.rank()));
  const auto target = PITWALL_TRY(perAxis(read, "target_shape", 2, 0));
  DeconvolutionDesc desc;
  desc.kernel = twoAxes(window.kernel, 1);
  desc.stride = twoAxes(window.stride, 1);
  desc.pad = twoAxes(window.pad, 0);
  desc.dilate = twoAxes(window.dilate, 1);
  desc.channels = read.integer("num_filter");
  desc.groups = static_cast<std::int32_t>(read.integer("num_group"));
  desc.bias = s.inputs.size() > 2;
  for (std::size_t i = 0; i < 2; ++i) {
    const int axis = static_cast<int>(i) + 2;
    const std::int64_t whole = window.stride[i] * ((*s.inputs[0])[axis] - 1) + windowReach(window, i);
    const std::int64_t extent = (*s.outputs[0])[axis];
    if (target[i] != 0 && whole < extent)
      return wrong(fmt::format("target_shape {} is more than the {} that data gives", extent, whole));
    if (target[i] != 0) desc.pad[i] = (whole - extent + 1) / 2;
    const std::int64_t adjusted = extent - (whole - 2 * desc.pad[i]);
    if (adjusted < 0 || adjusted > kMostAdjusted) return noKernel(fmt::format("adj={}", adjusted));
    desc.adjust[i] = static_cast<std::int16_t>(adjusted);
  }
  auto result = lowered(desc, static_cast<int>(s.inputs.size()));
  result->gradient =
      weightedRule("_backward_Deconvolution", desc, s.inputs.size(), deconvolutionFlop(attributes, s));
  return result;
}

constexpr NamedOperator kConvolutionOperators[] = {
    {"Convolution", kConvolutionRules, [](const Attributes& a) { return weighted(a, kConvolutionRules); },
     noStates, onlyOutput, oneVisible, convolutionShapes, lowerConvolution, convolutionFlop},
    {"Deconvolution", kDeconvolutionRules,
     [](const Attributes& a) { return weighted(a, kDeconvolutionRules); }, noStates, onlyOutput, oneVisible,
     deconvolutionShapes, lowerDeconvolution, deconvolutionFlop},
};

}  // namespace

std::span<const NamedOperator> convolutionOperators() { return kConvolutionOperators; }

}  // namespace pitwall::graph
