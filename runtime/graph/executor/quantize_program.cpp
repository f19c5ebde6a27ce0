// Operations between a _contrib_dequantize and a _contrib_quantize_v2 with a known range compute on the 8-bit numbers themselves, and write
// them. What has no 8-bit kernel computes on real numbers as the graph says.
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/dequantize.h"
#include "runtime/operators/fully_connected.h"
#include "runtime/operators/pooling.h"
#include "runtime/operators/quantize.h"
#include "runtime/operators/quantized_batch_norm.h"
#include "runtime/operators/quantized_binary.h"
#include "runtime/operators/quantized_convolution.h"
#include "runtime/operators/quantized_fully_connected.h"
#include "runtime/operators/rescale.h"

namespace pitwall::graph {

namespace {

// A tensor of 8-bit numbers, and how many of their steps are 1.
struct Codes {
  int tensor = -1;
  DType type = DType::int8;
  double scale = 1;
};

// int32 sums of a dense layer have steps so much finer than those of its data: coarse enough for sums of thousands of data's maxima, fine
// enough that rounding them is nothing beside rounding to 8 bits.
constexpr double kFinerSums = 4096;

class QuantizedProgram {
 public:
  QuantizedProgram(Program& program, const Quantizations& wanted, const Backend& backend)
      : program_(program), wanted_(wanted), backend_(backend) {
    makers_.assign(program.tensors.size(), -1);
    readers_.resize(program.tensors.size());
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      for (const int output : program.operations[i].outputs) makers_[position(output)] = static_cast<int>(i);
      for (const int input : program.operations[i].inputs)
        readers_[position(input)].push_back(static_cast<int>(i));
    }
    // A view and the caller are readers that are no operation.
    for (const Tensor& tensor : program.tensors)
      if (tensor.view_of >= 0) readers_[position(tensor.view_of)].push_back(-1);
    for (const int output : program.outputs) readers_[position(output)].push_back(-1);
  }

  void run() {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) findCodes(static_cast<int>(i));
    if (codes_.empty()) return;
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      if (dead_.contains(static_cast<int>(i))) continue;
      Operation operation = program_.operations[i];
      if (!rewrite(operation)) made_.push_back(std::move(operation));
    }
    program_.operations = std::move(made_);
    dropUnread();
  }

 private:
  // Results of calibrated Quantize whose range nothing but Dequantize reads.
  void findCodes(int index) {
    const Operation& operation = program_.operations[position(index)];
    if (!operation.desc.is<QuantizeDesc>()) return;
    const auto& desc = operation.desc.as<QuantizeDesc>();
    if (!desc.is_calibrated || (desc.output == DType::uint8 && desc.range.minimum != 0)) return;
    for (const int output : operation.outputs)
      for (const int reader : readers_[position(output)])
        if (reader < 0 || !dequantizes(program_.operations[position(reader)], operation)) return;
    codes_[operation.outputs[0]] = {operation.outputs[0], desc.output, desc.range.scale(desc.output)};
  }

  static bool dequantizes(const Operation& reader, const Operation& quantize) {
    return reader.desc.is<DequantizeDesc>() && reader.inputs == quantize.outputs;
  }

  // Of real numbers that were 8-bit ones; a view of them becomes one of those.
  std::optional<Codes> codesOf(int tensor) {
    const Tensor real = program_.tensors[position(tensor)];
    if (real.view_of >= 0) {
      auto base = codesOf(real.view_of);
      if (!base) return {};
      base->tensor =
          add({.name = real.name, .shape = real.shape, .dtype = base->type, .view_of = base->tensor});
      return base;
    }
    const int maker = position(tensor) < makers_.size() ? makers_[position(tensor)] : -1;
    if (maker < 0 || !program_.operations[position(maker)].desc.is<DequantizeDesc>()) return {};
    const auto found = codes_.find(program_.operations[position(maker)].inputs[0]);
    return found == codes_.end() ? std::nullopt : std::optional(found->second);
  }

  // The 8-bit numbers that alone are made of this result.
  std::optional<Codes> sinkOf(int tensor) const {
    const auto& readers = readers_[position(tensor)];
    if (readers.size() != 1 || readers[0] < 0) return {};
    const auto found = codes_.find(program_.operations[position(readers[0])].outputs[0]);
    const bool quantizes = program_.operations[position(readers[0])].desc.is<QuantizeDesc>();
    return quantizes && found != codes_.end() ? std::optional(found->second) : std::nullopt;
  }

  void takeOver(int tensor) { dead_.insert(readers_[position(tensor)][0]); }

  // Whether the operation, or its replacement, has been added.
  bool rewrite(Operation& o) {
    if (o.desc.is<ConvolutionDesc>()) return convolution(o);
    if (o.desc.is<FullyConnectedDesc>()) return dense(o);
    if (o.desc.is<PoolingDesc>()) return pooling(o);
    if (o.desc.is<BatchNormDesc>()) return norm(o);
    if (o.desc.is<BinaryDesc>()) return binary(o);
    if (o.desc.is<QuantizeDesc>() && codes_.contains(o.outputs[0])) {
      const Codes codes = codes_.at(o.outputs[0]);
      o.outputs.resize(1);
      o.desc = RescaleDesc{static_cast<float>(codes.scale), codes.type};
      program_.tensors[position(codes.tensor)].dtype = codes.type;
    } else if (o.desc.is<DequantizeDesc>() && codes_.contains(o.inputs[0])) {
      o.inputs.resize(1);
      o.desc = RescaleDesc{static_cast<float>(1 / codes_.at(o.inputs[0]).scale), DType::float32};
    }
    return false;
  }

  bool areConstant(const Operation& o, std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      const Tensor& tensor = program_.tensors[position(baseOf(program_, o.inputs[i]))];
      if (tensor.variable < 0 && !tensor.is_folded) return false;
    }
    return true;
  }

  static bool hasKernel(const FusedActivation& activation) {
    using Type = FusedActivation::Type;
    return activation.type == Type::none || activation.type == Type::relu || activation.type == Type::clip;
  }

  static FusedActivation scaled(FusedActivation activation, double scale) {
    activation.minimum = static_cast<float>(static_cast<double>(activation.minimum) * scale);
    activation.maximum = static_cast<float>(static_cast<double>(activation.maximum) * scale);
    return activation;
  }

  bool convolution(Operation& o) {
    const auto& plain = o.desc.as<ConvolutionDesc>();
    const std::size_t weights = plain.bias ? 3 : 2;
    const auto data = codesOf(o.inputs[0]);
    if (!data || !hasKernel(plain.activation) || !areConstant(o, 1, weights)) return false;
    auto sink = sinkOf(o.outputs[0]);
    std::optional<Codes> addend;
    if (plain.adds) addend = codesOf(o.inputs.back());
    if (plain.adds && !addend) sink.reset();
    const double output_scale = sink ? sink->scale : 1;
    QuantizedConvolutionDesc desc{.convolution = plain};
    desc.convolution.bias = true;
    desc.convolution.implementation = ConvolutionDesc::Implementation::library;
    desc.convolution.activation = scaled(plain.activation, output_scale);
    if (sink) desc.output = sink->type;
    if (sink && addend) desc.addend_scale = static_cast<float>(output_scale / addend->scale);
    std::vector<int> inputs{data->tensor};
    for (const int tensor : weightsOf(o, desc, *data, output_scale)) inputs.push_back(tensor);
    if (plain.adds) inputs.push_back(sink ? addend->tensor : o.inputs.back());
    o.inputs = std::move(inputs);
    o.desc = desc;
    o.name = "_contrib_quantized_conv";
    finish(o, sink);
    return true;
  }

  bool dense(Operation& o) {
    const auto& plain = o.desc.as<FullyConnectedDesc>();
    const auto data = codesOf(o.inputs[0]);
    if (!data || !hasKernel(plain.activation) || !areConstant(o, 1, o.inputs.size())) return false;
    const auto sink = sinkOf(o.outputs[0]);
    const bool joins = sink ? wanted_.requantize_into_dense : wanted_.dequantize_into_dense;
    const double output_scale = !joins ? data->scale * kFinerSums : sink ? sink->scale : 1;
    QuantizedFullyConnectedDesc desc{.dense = plain};
    desc.dense.bias = true;
    desc.dense.activation = scaled(plain.activation, output_scale);
    desc.output = !joins ? DType::int32 : sink ? sink->type : DType::float32;
    std::vector<int> inputs{data->tensor};
    for (const int tensor : weightsOf(o, desc, *data, output_scale)) inputs.push_back(tensor);
    o.inputs = std::move(inputs);
    o.desc = desc;
    o.name = "_contrib_quantized_fully_connected";
    joins ? finish(o, sink) : finishApart(o, sink, output_scale);
    return true;
  }

  // Its numbers have the steps of its data, not those of its own range: it only chooses or averages.
  bool pooling(Operation& o) {
    const auto& desc = o.desc.as<PoolingDesc>();
    const bool pads = !desc.global && (desc.pad[0] > 0 || desc.pad[1] > 0);
    const bool averages = desc.type == PoolingType::average && !(desc.count_padding && pads);
    const auto data = codesOf(o.inputs[0]), sink = sinkOf(o.outputs[0]);
    if (!data || !sink || (desc.type != PoolingType::max && !averages)) return false;
    codes_[sink->tensor] = {sink->tensor, data->type, data->scale};
    o.inputs = {data->tensor};
    o.name = "_contrib_quantized_pooling";
    finish(o, codes_.at(sink->tensor));
    return true;
  }

  bool norm(Operation& o) {
    const auto& plain = o.desc.as<BatchNormDesc>();
    const auto data = codesOf(o.inputs[0]), sink = sinkOf(o.outputs[0]);
    if (!data || !sink || !areConstant(o, 1, o.inputs.size())) return false;
    QuantizedNorm made{.gamma = o.inputs[1],
                       .beta = o.inputs[2],
                       .mean = o.inputs[3],
                       .variance = o.inputs[4],
                       .epsilon = plain.epsilon,
                       .fix_gamma = plain.fix_gamma,
                       .data_scale = data->scale,
                       .output_scale = sink->scale};
    const Shape channels{program_.tensors[position(o.outputs[0])].shape[1]};
    made.scale = add({.name = o.layer + "_scale", .shape = channels, .is_folded = true});
    made.shift = add({.name = o.layer + "_shift", .shape = channels, .is_folded = true});
    o.inputs = {data->tensor, made.scale, made.shift};
    program_.quantized_norms.push_back(made);
    o.desc = QuantizedBatchNormDesc{plain.relu, sink->type};
    o.name = "_contrib_quantized_batch_norm";
    finish(o, sink);
    return true;
  }

  bool binary(Operation& o) {
    const BinaryType type = o.desc.as<BinaryDesc>().type;
    if (type != BinaryType::add && type != BinaryType::multiply) return false;
    const auto& tensors = program_.tensors;
    if (tensors[position(o.inputs[0])].shape != tensors[position(o.inputs[1])].shape) return false;
    const auto lhs = codesOf(o.inputs[0]), rhs = codesOf(o.inputs[1]), sink = sinkOf(o.outputs[0]);
    if (!lhs || !rhs) return false;
    const bool multiplies = type == BinaryType::multiply;
    const bool joins =
        !multiplies || (sink ? wanted_.requantize_into_product : wanted_.dequantize_into_product);
    // Of the output's numbers; int32 products are those of the 8-bit numbers.
    const double output_scale = !joins ? lhs->scale * rhs->scale : sink ? sink->scale : 1;
    QuantizedBinaryDesc desc{.type = type};
    desc.lhs_scale = static_cast<float>(output_scale / lhs->scale);
    desc.rhs_scale = static_cast<float>((multiplies ? 1 : output_scale) / rhs->scale);
    desc.output = !joins ? DType::int32 : sink ? sink->type : DType::float32;
    o.inputs = {lhs->tensor, rhs->tensor};
    o.desc = desc;
    o.name = multiplies ? "_contrib_quantized_elemwise_mul" : "_contrib_quantized_elemwise_add";
    joins ? finish(o, sink) : finishApart(o, sink, output_scale);
    return true;
  }

  // What the kernel takes after its data. `o`: before it is quantized; `desc`: of the kernel.
  std::vector<int> weightsOf(const Operation& o, const OperatorKindDesc& desc, const Codes& data,
                             double output_scale) {
    const bool is_dense = desc.is<QuantizedFullyConnectedDesc>();
    const bool has_bias = is_dense ? o.desc.as<FullyConnectedDesc>().bias : o.desc.as<ConvolutionDesc>().bias;
    QuantizedWeight made{.weight = o.inputs[1],
                         .bias = has_bias ? o.inputs[2] : -1,
                         .is_dense = is_dense,
                         .data_scale = data.scale,
                         .output_scale = output_scale,
                         .codes = backend_.weightCodes(desc, data.type)};
    const Shape weight = program_.tensors[position(made.weight)].shape;
    made.quantized =
        add({.name = o.layer + "_weight", .shape = weight, .dtype = DType::int8, .is_folded = true});
    made.scale = add({.name = o.layer + "_scale", .shape = {weight[0]}, .is_folded = true});
    made.shifted_bias = add({.name = o.layer + "_bias", .shape = {weight[0]}, .is_folded = true});
    program_.quantized_weights.push_back(made);
    return {made.quantized, made.scale, made.shifted_bias};
  }

  // The operation writes the 8-bit numbers itself, where there are any.
  void finish(Operation& o, const std::optional<Codes>& sink) {
    if (sink) {
      takeOver(o.outputs[0]);
      o.outputs = {sink->tensor};
      program_.tensors[position(sink->tensor)].dtype = sink->type;
    }
    made_.push_back(std::move(o));
  }

  // The operation writes int32, and another one what follows.
  void finishApart(Operation& o, const std::optional<Codes>& sink, double output_scale) {
    const int result = o.outputs[0];
    const Tensor& real = program_.tensors[position(result)];
    o.outputs = {add({.name = real.name, .shape = real.shape, .dtype = DType::int32})};
    Operation after{.layer = o.layer,
                    .name = sink ? "_contrib_requantize" : "_contrib_dequantize",
                    .desc = RescaleDesc{static_cast<float>((sink ? sink->scale : 1) / output_scale),
                                        sink ? sink->type : DType::float32},
                    .inputs = o.outputs,
                    .outputs = {result}};
    made_.push_back(std::move(o));
    finish(after, sink);
  }

  // Dequantize that nothing reads any more.
  void dropUnread() {
    std::vector<bool> read(program_.tensors.size(), false);
    for (const int output : program_.outputs) read[position(baseOf(program_, output))] = true;
    for (const Operation& operation : program_.operations)
      for (const int input : operation.inputs) read[position(baseOf(program_, input))] = true;
    std::erase_if(program_.operations, [&](const Operation& operation) {
      return operation.desc.is<RescaleDesc>() && !read[position(operation.outputs[0])];
    });
  }

  int add(Tensor tensor) {
    program_.tensors.push_back(std::move(tensor));
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Program& program_;
  const Quantizations wanted_;
  const Backend& backend_;
  std::vector<int> makers_;                // of each tensor: its operation
  std::vector<std::vector<int>> readers_;  // of each tensor: operations; -1 for a view or the caller
  std::map<int, Codes> codes_;             // by tensor
  std::set<int> dead_;                     // operations that another does too
  std::vector<Operation> made_;
};

}  // namespace

void quantizeOperations(Program& program, const Quantizations& wanted, const Backend& backend) {
  QuantizedProgram(program, wanted, backend).run();
}

std::vector<int> constantSources(const Program& program, bool with_dense) {
  std::vector<int> sources;
  const auto add = [&](std::initializer_list<int> tensors) {
    for (const int tensor : tensors)
      if (tensor >= 0) sources.push_back(tensor);
  };
  for (const Folding& f : program.foldings) add({f.weight, f.bias, f.gamma, f.beta, f.mean, f.variance});
  for (const QuantizedWeight& w : program.quantized_weights)
    if (with_dense || !w.is_dense) add({w.weight, w.bias});
  for (const QuantizedNorm& n : program.quantized_norms) add({n.gamma, n.beta, n.mean, n.variance});
  return sources;
}

}  // namespace pitwall::graph
