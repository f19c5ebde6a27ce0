// To 8-bit numbers and back. An executor computes on the 8-bit numbers between them where it can.
#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/dequantize.h"
#include "runtime/operators/quantize.h"
#include "runtime/operators/requantize.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kQuantizeRules[] = {
    {"out_type", kChoice, "int8", "auto|int8|uint8"},
    {"min_calib_range", kReal, "None", "", 0, true},
    {"max_calib_range", kReal, "None", "", 0, true},
};

constexpr AttributeRule kDequantizeRules[] = {{"out_type", kChoice, "float32", "float32"}};

std::vector<std::string> quantizedOutputs(const Attributes&) {
  return {"output", "min_output", "max_output"};
}
std::vector<std::string> dataAndRange(const Attributes&) { return {"data", "min_range", "max_range"}; }
int threeVisible(const Attributes&) { return 3; }

Status quantizedShapes(const Attributes&, NodeShapes& s) {
  for (std::size_t i = 1; i < s.inputs.size(); ++i) PITWALL_TRY(assign(s.inputs[i], {1}, "the range"));
  for (std::size_t i = 1; i < s.outputs.size(); ++i) PITWALL_TRY(assign(s.outputs[i], {1}, "the range"));
  return equate(s.inputs[0], s.outputs[0], "output");
}

// Of Quantize or Requantize. With out_type=auto numbers that are known not to be negative have no sign.
template <class D>
Result<D> quantizedDesc(const Attributes& a) {
  const AttributeReader read(kQuantizeRules, a);
  D desc;
  if (read.isNone("min_calib_range") != read.isNone("max_calib_range"))
    return wrong("min_calib_range and max_calib_range are given together or not at all");
  desc.is_calibrated = !read.isNone("min_calib_range");
  if (desc.is_calibrated)
    desc.range = {static_cast<float>(read.real("min_calib_range")),
                  static_cast<float>(read.real("max_calib_range"))};
  const bool unsigned_numbers =
      read.choice("out_type") == "uint8" ||
      (read.choice("out_type") == "auto" && desc.is_calibrated && desc.range.minimum >= 0);
  if (unsigned_numbers) desc.output = DType::uint8;
  return desc;
}

template <class D>
Result<Lowered> lowerQuantized(const Attributes& a, const NodeShapes& s, bool training) {
  if (training)
    return noKernel("training: 8-bit numbers have no gradient; train the network before it is quantized");
  auto result = lowered(PITWALL_TRY(quantizedDesc<D>(a)), static_cast<int>(s.inputs.size()));
  result->outputs = {0, 1, 2};
  return result;
}

Result<Lowered> lowerDequantize(const Attributes&, const NodeShapes&, bool training) {
  if (training)
    return noKernel("training: 8-bit numbers have no gradient; train the network before it is quantized");
  return lowered(DequantizeDesc{}, 3);
}

constexpr NamedOperator kQuantizedOperators[] = {
    {"_contrib_quantize_v2", kQuantizeRules, onlyData, noStates, quantizedOutputs, threeVisible,
     quantizedShapes, lowerQuantized<QuantizeDesc>, outputElements},
    {"_contrib_requantize", kQuantizeRules, dataAndRange, noStates, quantizedOutputs, threeVisible,
     quantizedShapes, lowerQuantized<RequantizeDesc>, outputElements},
    {"_contrib_dequantize", kDequantizeRules, dataAndRange, noStates, onlyOutput, oneVisible, quantizedShapes,
     lowerDequantize, outputElements},
};

}  // namespace

std::span<const NamedOperator> quantizedOperators() { return kQuantizedOperators; }

}  // namespace pitwall::graph
