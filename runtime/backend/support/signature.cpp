#include "runtime/backend/support/signature.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/labels.h"
#include "runtime/short_float.h"

namespace pitwall {

Result<Signature> OperatorKindDesc::infer(const ShapeQuery& query) const {
  return kind_->infer(storage_, query);
}

const char* operatorName(const OperatorKindDesc& desc) { return desc.kind().name; }

std::string describeRequest(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                            const TensorSpec* like) {
  std::string text = fmt::format("{} {}(", operatorName(desc), toString(pass));
  for (std::size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? "" : ", ") + inputs[i].shape.toString();
  text += ")";
  if (like != nullptr) text += " -> " + like->shape.toString();
  return text;
}

Failure ShapeQuery::wrong(const std::string& what) const {
  return fail(ErrorCode::invalidInput, describeRequest(desc, pass, inputs, like) + ": " + what);
}

Failure ShapeQuery::noSuchPass() const {
  return fail(ErrorCode::unsupported,
              describeRequest(desc, pass, inputs, like) + ": the operator has no such pass");
}

Status ShapeQuery::expectInputs(std::size_t count) const {
  if (inputs.size() == count) return {};
  return wrong(fmt::format("takes {} arrays, {} given", count, inputs.size()));
}

Status ShapeQuery::expectShape(std::size_t i, const Shape& expected, const char* name) const {
  if (shape(i) == expected) return {};
  return wrong(fmt::format("{} has shape {}, must be {}", name, shape(i).toString(), expected.toString()));
}

Status ShapeQuery::expectWorkspace(std::size_t i) const {
  if (inputs[i].dtype == DType::uint8) return {};
  return wrong("the workspace must be uint8");
}

Result<int> ShapeQuery::axisOf(int axis, const Shape& of) const {
  const int counted = axis < 0 ? axis + of.rank() : axis;
  if (counted >= 0 && counted < of.rank()) return counted;
  return wrong(fmt::format("there is no axis {} in {}", axis, of.toString()));
}

DType ShapeQuery::realType() const {
  for (const TensorSpec& input : inputs)
    if (is16Bits(input.dtype)) return input.dtype;
  return DType::float32;
}

Signature ShapeQuery::signature(std::span<const Shape> outputs) const {
  Signature s;
  for (const TensorSpec& input : inputs) s.inputs.push_back({input.shape, input.dtype, nullptr});
  for (const Shape& shape : outputs) s.outputs.push_back({shape, realType(), nullptr});
  return s;
}

Status ShapeQuery::expectReal(std::size_t i) const {
  const DType type = inputs[i].dtype;
  if (type == DType::float32 || type == realType()) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{}: computes with float32, or one of float16 and bfloat16, not {}",
                          describeRequest(desc, pass, inputs, like), toString(type)));
}

Signature ShapeQuery::withWorkspace(std::initializer_list<Shape> outputs) const {
  Signature s = signature(outputs);
  s.outputs.push_back({Shape{1}, DType::uint8, nullptr});
  return s;
}

std::int64_t slidingExtent(std::int64_t data, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                           std::int64_t dilate) {
  const std::int64_t room = data + 2 * pad - (dilate * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

Result<Signature> inferSignature(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                                 const TensorSpec* like) {
  const ShapeQuery query{desc, pass, inputs, like};
  const bool workspace_last = desc.kind().keeps_workspace;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool workspace = workspace_last && i + 1 == inputs.size() && inputs[i].dtype == DType::uint8;
    if (!desc.kind().checks_types && !workspace) PITWALL_TRY(query.expectReal(i));
    if (inputs[i].shape.elements() < 1) return query.wrong("an array is empty");
  }
  return desc.infer(query);
}

Window windowOf(const Shape& data, const Shape& out) {
  const int last = data.rank() - 1;
  const bool image = data.rank() == 4;
  return {data[0], data[1], image ? data[2] : 1, data[last], out[1], image ? out[2] : 1, out[last]};
}

Failure badLabel(const char* operator_name, std::int64_t sample, float label, std::int64_t classes) {
  return fail(ErrorCode::invalidInput,
              fmt::format("{}: the label of sample {} is {}, must be a whole number from 0 to {}",
                          operator_name, sample, label, classes - 1));
}

Failure badIndex(const char* operator_name, std::int64_t place, float index, std::int64_t count) {
  return fail(ErrorCode::invalidInput, fmt::format("{}: index {} is {}, must be a whole number from 0 to {}",
                                                   operator_name, place, index, count - 1));
}

}  // namespace pitwall
