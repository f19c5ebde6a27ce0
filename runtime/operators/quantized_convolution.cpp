#include "runtime/operators/quantized_convolution.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind QuantizedConvolutionDesc::kKind =
    OperatorKind::of<QuantizedConvolutionDesc>("QuantizedConvolution", {}, {.value = true});

// The shapes are those of the convolution, whose inputs have no scale.
Result<Signature> QuantizedConvolutionDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, convolution.adds ? 5 : 4));
  PITWALL_TRY(expectEightBit(q, 0, "data"));
  if (q.inputs[1].dtype != DType::int8)
    return q.wrong(fmt::format("weight is {}, must be int8", toString(q.inputs[1].dtype)));
  PITWALL_TRY(expectFloats(q, 2, {convolution.channels}, "scale"));
  PITWALL_TRY(expectFloats(q, 3, {convolution.channels}, "bias"));
  if (output != DType::float32 && !isEightBit(output))
    return q.wrong(fmt::format("the output is {}: must be float32, int8 or uint8", toString(output)));
  using Type = FusedActivation::Type;
  const Type type = convolution.activation.type;
  if (!convolution.bias || (type != Type::none && type != Type::relu && type != Type::clip))
    return q.wrong("it has a bias, and of the activations relu and clip alone");
  if (convolution.adds && isEightBit(q.inputs[4].dtype) != isEightBit(output))
    return q.wrong(fmt::format("the addend is {}, the output {}: both must be 8-bit, or neither",
                               toString(q.inputs[4].dtype), toString(output)));
  std::vector<TensorSpec> inputs{q.inputs[0], q.inputs[1], q.inputs[3]};
  if (convolution.adds) inputs.push_back(q.inputs[4]);
  const Signature plain = PITWALL_TRY(convolution.infer({q.desc, q.pass, inputs, q.like}));
  Signature s = q.signature({plain.outputs[0].shape});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
