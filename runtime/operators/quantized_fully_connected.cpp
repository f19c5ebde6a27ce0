#include "runtime/operators/quantized_fully_connected.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {

constinit const OperatorKind QuantizedFullyConnectedDesc::kKind =
    OperatorKind::of<QuantizedFullyConnectedDesc>("QuantizedFullyConnected", {}, {.value = true});

// The shapes are those of the dense layer, whose inputs have no scale.
Result<Signature> QuantizedFullyConnectedDesc::infer(const ShapeQuery& q) const {
  PITWALL_TRY(expectInference(q, 4));
  PITWALL_TRY(expectEightBit(q, 0, "data"));
  if (q.inputs[1].dtype != DType::int8)
    return q.wrong(fmt::format("weight is {}, must be int8", toString(q.inputs[1].dtype)));
  PITWALL_TRY(expectFloats(q, 2, {dense.units}, "scale"));
  PITWALL_TRY(expectFloats(q, 3, {dense.units}, "bias"));
  PITWALL_TRY(expectOutputType(q, output));
  using Type = FusedActivation::Type;
  const Type type = dense.activation.type;
  if (!dense.bias || (type != Type::none && type != Type::relu && type != Type::clip))
    return q.wrong("it has a bias, and of the activations relu and clip alone");
  const TensorSpec inputs[] = {q.inputs[0], q.inputs[1], q.inputs[3]};
  const Signature plain = PITWALL_TRY(dense.infer({q.desc, q.pass, inputs, q.like}));
  Signature s = q.signature({plain.outputs[0].shape});
  s.outputs[0].dtype = output;
  return s;
}

}  // namespace pitwall
