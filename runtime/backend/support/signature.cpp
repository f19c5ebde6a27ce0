#include "runtime/backend/support/signature.h"

#include <fmt/format.h>

#include <algorithm>

namespace pitwall {
namespace {

using Specs = std::span<const TensorSpec>;

// Checks the shapes of one request and builds the error messages.
struct Query {
  const OperatorKindDesc& desc;
  Pass pass;
  Specs inputs;
  const TensorSpec* like;

  const Shape& shape(std::size_t i) const { return inputs[i].shape; }

  std::string place() const {
    std::string text = fmt::format("{} {}(", operatorName(desc), toString(pass));
    for (std::size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? "" : ", ") + shape(i).toString();
    text += ")";
    if (like != nullptr) text += " -> " + like->shape.toString();
    return text;
  }
  Failure wrong(const std::string& what) const {
    return fail(ErrorCode::invalidInput, place() + ": " + what);
  }
  Failure noSuchPass() const {
    return fail(ErrorCode::unsupported, place() + ": the operator has no such pass");
  }
  Status expectInputs(std::size_t count) const {
    if (inputs.size() == count) return {};
    return wrong(fmt::format("takes {} arrays, {} given", count, inputs.size()));
  }
  Status expectShape(std::size_t i, const Shape& expected, const char* name) const {
    if (shape(i) == expected) return {};
    return wrong(fmt::format("{} has shape {}, must be {}", name, shape(i).toString(), expected.toString()));
  }
};

bool isForward(Pass pass) { return pass == Pass::forward || pass == Pass::inference; }

Signature signatureOf(const Query& q, std::initializer_list<Shape> outputs) {
  Signature s;
  for (const TensorSpec& input : q.inputs) s.inputs.push_back({input.shape, input.dtype, nullptr});
  for (const Shape& shape : outputs) s.outputs.push_back({shape, DType::float32, nullptr});
  return s;
}

// 0 when the window does not fit.
std::int64_t slidingExtent(std::int64_t data, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                           std::int64_t dilate) {
  const std::int64_t room = data + 2 * pad - (dilate * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

template <class D>
Status checkWindow(const Query& q, const D& d) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (d.kernel[i] < 1 || d.stride[i] < 1 || d.pad[i] < 0) {
      return q.wrong("kernel and stride must be at least 1, pad at least 0");
    }
  }
  return {};
}

Result<Shape> convolutionOutput(const Query& q, const ConvolutionDesc& d, const Shape& data) {
  if (auto ok = checkWindow(q, d); !ok.has_value()) return fail(ok.error());
  if (d.dilate[0] < 1 || d.dilate[1] < 1) return q.wrong("dilate must be at least 1");
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (d.groups < 1 || d.channels < 1 || data[1] % d.groups != 0 || d.channels % d.groups != 0) {
    return q.wrong(fmt::format("{} groups must divide the channels of data ({}) and of the output ({})",
                               d.groups, data[1], d.channels));
  }
  const std::int64_t height = slidingExtent(data[2], d.kernel[0], d.stride[0], d.pad[0], d.dilate[0]);
  const std::int64_t width = slidingExtent(data[3], d.kernel[1], d.stride[1], d.pad[1], d.dilate[1]);
  if (height < 1 || width < 1) {
    return q.wrong(fmt::format("a {}x{} window (pad {}x{}, dilate {}x{}) does not fit into {}x{} data",
                               d.kernel[0], d.kernel[1], d.pad[0], d.pad[1], d.dilate[0], d.dilate[1],
                               data[2], data[3]));
  }
  return Shape{data[0], d.channels, height, width};
}

Shape convolutionWeight(const ConvolutionDesc& d, const Shape& data) {
  return {d.channels, data[1] / d.groups, d.kernel[0], d.kernel[1]};
}

Result<Shape> outputOf(const Query& q, const ConvolutionDesc& d, const Shape& data) {
  return convolutionOutput(q, d, data);
}
Result<Shape> weightOf(const Query&, const ConvolutionDesc& d, const Shape& data) {
  return convolutionWeight(d, data);
}
std::int64_t biasOf(const ConvolutionDesc& d) { return d.channels; }

Result<Shape> outputOf(const Query& q, const FullyConnectedDesc& d, const Shape& data) {
  if (data.rank() < 2) return q.wrong("data must have at least 2 axes");
  if (d.units < 1) return q.wrong(fmt::format("{} units: must be at least 1", d.units));
  return Shape{data[0], d.units};
}
Result<Shape> weightOf(const Query& q, const FullyConnectedDesc& d, const Shape& data) {
  if (data[0] < 1) return q.wrong("data is empty");
  return Shape{d.units, data.elements() / data[0]};
}
std::int64_t biasOf(const FullyConnectedDesc& d) { return d.units; }

// Convolution and FullyConnected have the same arrays.
template <class D>
Result<Signature> weighted(const Query& q, const D& d) {
  const bool data_first = q.pass != Pass::backwardData;
  if (q.pass == Pass::backward) return q.noSuchPass();
  if (auto ok = q.expectInputs(isForward(q.pass) && d.bias ? 3 : 2); !ok.has_value()) return fail(ok.error());
  if (!data_first && q.like == nullptr) return q.wrong("the shape of ddata must be given (`like`)");
  const Shape& data = data_first ? q.shape(0) : q.like->shape;
  const auto out = outputOf(q, d, data);
  if (!out.has_value()) return fail(out.error());
  const auto weight = weightOf(q, d, data);
  if (!weight.has_value()) return fail(weight.error());

  Status ok;
  if (isForward(q.pass)) {
    ok = q.expectShape(1, *weight, "weight");
    if (ok.has_value() && d.bias) ok = q.expectShape(2, Shape{biasOf(d)}, "bias");
    if (!ok.has_value()) return fail(ok.error());
    return signatureOf(q, {*out});
  }
  if (q.pass == Pass::backwardData) {
    ok = q.expectShape(0, *out, "dout");
    if (ok.has_value()) ok = q.expectShape(1, *weight, "weight");
    if (!ok.has_value()) return fail(ok.error());
    return signatureOf(q, {data});
  }
  ok = q.expectShape(1, *out, "dout");
  if (!ok.has_value()) return fail(ok.error());
  if (q.like != nullptr && !(q.like->shape == *weight)) {
    return q.wrong("dweight must have shape " + weight->toString());
  }
  if (d.bias) return signatureOf(q, {*weight, Shape{biasOf(d)}});
  return signatureOf(q, {*weight});
}

Result<Signature> infer(const Query& q, const ConvolutionDesc& d) { return weighted(q, d); }
Result<Signature> infer(const Query& q, const FullyConnectedDesc& d) { return weighted(q, d); }

Result<Signature> infer(const Query& q, const PoolingDesc& d) {
  if (!isForward(q.pass) && q.pass != Pass::backward) return q.noSuchPass();
  if (auto ok = q.expectInputs(q.pass == Pass::backward ? 4 : 1); !ok.has_value()) return fail(ok.error());
  if (auto ok = checkWindow(q, d); !ok.has_value()) return fail(ok.error());
  const Shape& data = q.shape(0);
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (d.pad[0] >= d.kernel[0] || d.pad[1] >= d.kernel[1]) return q.wrong("pad must be less than the kernel");
  const Shape out{data[0], data[1], slidingExtent(data[2], d.kernel[0], d.stride[0], d.pad[0], 1),
                  slidingExtent(data[3], d.kernel[1], d.stride[1], d.pad[1], 1)};
  if (out[2] < 1 || out[3] < 1) {
    return q.wrong(fmt::format("a {}x{} window does not fit into {}x{} data", d.kernel[0], d.kernel[1],
                               data[2], data[3]));
  }
  if (q.pass == Pass::inference) return signatureOf(q, {out});
  if (q.pass == Pass::forward) {
    Signature s = signatureOf(q, {out, Shape{1}});
    s.outputs[1].dtype = DType::uint8;
    return s;
  }
  Status ok = q.expectShape(1, out, "out");
  if (ok.has_value()) ok = q.expectShape(2, out, "dout");
  if (!ok.has_value()) return fail(ok.error());
  if (q.inputs[3].dtype != DType::uint8) return q.wrong("the workspace must be uint8");
  return signatureOf(q, {data});
}

Result<Signature> infer(const Query& q, const ActivationDesc&) {
  if (isForward(q.pass)) {
    if (auto ok = q.expectInputs(1); !ok.has_value()) return fail(ok.error());
    return signatureOf(q, {q.shape(0)});
  }
  if (q.pass != Pass::backward) return q.noSuchPass();
  Status ok = q.expectInputs(3);
  if (ok.has_value()) ok = q.expectShape(1, q.shape(0), "out");
  if (ok.has_value()) ok = q.expectShape(2, q.shape(0), "dout");
  if (!ok.has_value()) return fail(ok.error());
  return signatureOf(q, {q.shape(0)});
}

Result<Signature> infer(const Query& q, const BatchNormDesc&) {
  static constexpr const char* kNames[][5] = {{"data", "gamma", "beta", "running_mean", "running_var"},
                                              {"data", "gamma", "beta"},
                                              {"data", "gamma", "saved_mean", "saved_var", "dout"}};
  if (!isForward(q.pass) && q.pass != Pass::backward) return q.noSuchPass();
  if (auto ok = q.expectInputs(q.pass == Pass::forward ? 3 : 5); !ok.has_value()) return fail(ok.error());
  const Shape& data = q.shape(0);
  if (data.rank() != 4 && data.rank() != 2) return q.wrong("data must have 2 or 4 axes (NC or NCHW)");
  const Shape channels{data[1]};
  const std::size_t row = q.pass == Pass::inference ? 0 : q.pass == Pass::forward ? 1 : 2;
  for (std::size_t i = 1; i < q.inputs.size(); ++i) {
    const bool is_dout = row == 2 && i == 4;
    if (auto ok = q.expectShape(i, is_dout ? data : channels, kNames[row][i]); !ok.has_value()) {
      return fail(ok.error());
    }
  }
  if (q.pass == Pass::inference) return signatureOf(q, {data});
  if (q.pass == Pass::forward) return signatureOf(q, {data, channels, channels, channels, channels});
  return signatureOf(q, {data, channels, channels});
}

Result<Signature> infer(const Query& q, const DropoutDesc& d) {
  if (q.pass != Pass::forward && q.pass != Pass::backward) return q.noSuchPass();
  if (!(d.rate >= 0 && d.rate < 1)) return q.wrong(fmt::format("rate {}: must be in [0, 1)", d.rate));
  if (auto ok = q.expectInputs(q.pass == Pass::forward ? 1 : 2); !ok.has_value()) return fail(ok.error());
  if (q.pass == Pass::forward) return signatureOf(q, {q.shape(0), q.shape(0)});
  if (auto ok = q.expectShape(1, q.shape(0), "mask"); !ok.has_value()) return fail(ok.error());
  return signatureOf(q, {q.shape(0)});
}

Result<Signature> infer(const Query& q, const BinaryDesc&) {
  if (!isForward(q.pass)) return q.noSuchPass();
  if (auto ok = q.expectInputs(2); !ok.has_value()) return fail(ok.error());
  if (auto ok = q.expectShape(1, q.shape(0), "b"); !ok.has_value()) return fail(ok.error());
  return signatureOf(q, {q.shape(0)});
}

Result<Signature> infer(const Query& q, const LinearDesc&) {
  if (!isForward(q.pass)) return q.noSuchPass();
  if (auto ok = q.expectInputs(1); !ok.has_value()) return fail(ok.error());
  return signatureOf(q, {q.shape(0)});
}

Result<Signature> infer(const Query& q, const SoftmaxCrossEntropyDesc&) {
  if (!isForward(q.pass) && q.pass != Pass::backward) return q.noSuchPass();
  if (auto ok = q.expectInputs(isForward(q.pass) ? 2 : 3); !ok.has_value()) return fail(ok.error());
  const Shape& data = q.shape(0);
  if (data.rank() != 2 || data[1] < 1) return q.wrong("scores must have 2 axes (N x C)");
  const Shape samples{data[0]};
  if (auto ok = q.expectShape(1, samples, "label"); !ok.has_value()) return fail(ok.error());
  if (isForward(q.pass)) return signatureOf(q, {samples, data});
  if (auto ok = q.expectShape(2, samples, "dloss"); !ok.has_value()) return fail(ok.error());
  return signatureOf(q, {data});
}

Result<Signature> infer(const Query& q, const SgdDesc& d) {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (q.inputs.empty()) return q.wrong("takes at least one gradient");
  Signature s = signatureOf(q, {});
  s.outputs = s.inputs;
  if (d.momentum != 0) s.outputs.insert(s.outputs.end(), s.inputs.begin(), s.inputs.end());
  return s;
}

Result<Signature> infer(const Query& q, const ReorderDesc&) {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (auto ok = q.expectInputs(1); !ok.has_value()) return fail(ok.error());
  return signatureOf(q, {q.shape(0)});
}

}  // namespace

const char* operatorName(const OperatorKindDesc& desc) {
  static constexpr const char* kNames[] = {
      "Convolution", "FullyConnected",      "Pooling", "Activation", "BatchNorm", "Dropout", "Binary",
      "Linear",      "SoftmaxCrossEntropy", "SGD",     "Reorder"};
  static_assert(std::size(kNames) == std::variant_size_v<OperatorKindDesc>);
  return kNames[desc.index()];
}

Result<Signature> inferSignature(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                                 const TensorSpec* like) {
  const Query q{desc, pass, inputs, like};
  for (const TensorSpec& input : inputs) {
    const bool workspace = std::holds_alternative<PoolingDesc>(desc) && &input == &inputs.back();
    if (input.dtype != DType::float32 && !(workspace && input.dtype == DType::uint8)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: computes in float32 only, not {}", q.place(), toString(input.dtype)));
    }
    if (input.shape.elements() < 1) return q.wrong("an array is empty");
  }
  return std::visit([&](const auto& d) { return infer(q, d); }, desc);
}

Window windowOf(const Shape& data, const Shape& out) {
  return {data[0], data[1], data[2], data[3], out[1], out[2], out[3]};
}

}  // namespace pitwall
