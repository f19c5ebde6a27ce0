// Joins operations where one kernel computes both. A result that something else reads too, or that is an output of the
// graph, stays.
#include <algorithm>
#include <optional>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/fully_connected.h"

namespace pitwall::graph {

namespace {

constexpr int kNobody = -1;

std::optional<FusedActivation> activationOf(const Operation& operation) {
  using Type = FusedActivation::Type;
  if (operation.desc.is<ClipDesc>()) {
    const auto& clip = operation.desc.as<ClipDesc>();
    return FusedActivation{Type::clip, clip.minimum, clip.maximum};
  }
  if (!operation.desc.is<ActivationDesc>()) return {};
  switch (operation.desc.as<ActivationDesc>().type) {
    case ActivationType::relu: return FusedActivation{.type = Type::relu};
    case ActivationType::sigmoid: return FusedActivation{.type = Type::sigmoid};
    case ActivationType::tanh: return FusedActivation{.type = Type::tanh};
    case ActivationType::softrelu: return FusedActivation{.type = Type::softrelu};
  }
  return {};
}

class Fusion {
 public:
  Fusion(Program& program, const Fusions& wanted)
      : program_(program), wanted_(wanted), makers_(program.tensors.size(), kNobody) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      for (const int output : program_.operations[i].outputs) makers_[position(output)] = static_cast<int>(i);
    countReaders();
  }

  void run() {
    dead_.assign(program_.operations.size(), false);
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      Operation& operation = program_.operations[i];
      if (operation.desc.is<BatchNormDesc>()) {
        foldInto(i, operation);
      } else if (operation.desc.is<BinaryDesc>()) {
        addInto(i, operation);
      } else if (const auto activation = activationOf(operation)) {
        activate(i, operation, *activation);
      }
    }
    removeOperations(program_, dead_);
  }

 private:
  void countReaders() {
    readers_.assign(program_.tensors.size(), 0);
    for (const Operation& operation : program_.operations)
      for (const int input : operation.inputs) ++readers_[position(input)];
    for (const Tensor& tensor : program_.tensors)
      if (tensor.view_of >= 0) ++readers_[position(tensor.view_of)];
    for (const int output : program_.outputs) ++readers_[position(output)];
  }

  // The operation whose only result, read once, this tensor is; kNobody otherwise.
  int soleMaker(int tensor) const {
    const int maker = makers_[position(tensor)];
    if (maker == kNobody || readers_[position(tensor)] != 1) return kNobody;
    return program_.operations[position(maker)].outputs.size() == 1 ? maker : kNobody;
  }

  // `from` computes what `into` did, at the place of `into`.
  void replace(int from, std::size_t into, Operation fused) {
    Operation& first = program_.operations[position(from)];
    Operation& last = program_.operations[into];
    fused.layer = first.layer + "+" + last.layer;
    fused.flop = first.flop + last.flop;
    fused.outputs = last.outputs;
    dead_[position(from)] = true;
    last = std::move(fused);
  }

  void foldInto(std::size_t i, const Operation& norm) {
    const int maker = soleMaker(norm.inputs[0]);
    if (maker == kNobody) return;
    Operation fused = program_.operations[position(maker)];
    if (!wanted_.norm_into_convolution || !fused.desc.is<ConvolutionDesc>()) return;
    ConvolutionDesc convolution = fused.desc.as<ConvolutionDesc>();
    const auto& batch_norm = norm.desc.as<BatchNormDesc>();
    if (convolution.adds || convolution.activation.type != FusedActivation::Type::none) return;
    const bool all_weights =
        std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), [&](int t) { return isArray(t); }) &&
        std::all_of(fused.inputs.begin() + 1, fused.inputs.end(), [&](int t) { return isArray(t); });
    if (!all_weights) return;
    Folding folding{.weight = fused.inputs[1],
                    .bias = convolution.bias ? fused.inputs[2] : -1,
                    .gamma = norm.inputs[1],
                    .beta = norm.inputs[2],
                    .mean = norm.inputs[3],
                    .variance = norm.inputs[4],
                    .epsilon = batch_norm.epsilon,
                    .fix_gamma = batch_norm.fix_gamma};
    const Tensor& weight = program_.tensors[position(folding.weight)];
    const DType type = weight.dtype;
    folding.folded_weight = folded({.name = fused.layer + "_weight", .shape = weight.shape, .dtype = type});
    folding.folded_bias =
        folded({.name = fused.layer + "_bias", .shape = {convolution.channels}, .dtype = type});
    program_.foldings.push_back(folding);
    convolution.bias = true;
    fused.inputs = {fused.inputs[0], folding.folded_weight, folding.folded_bias};
    if (batch_norm.relu) convolution.activation = {.type = FusedActivation::Type::relu};
    fused.desc = convolution;
    replace(maker, i, std::move(fused));
    moved(i);
  }

  void addInto(std::size_t i, const Operation& sum) {
    if (!wanted_.sum_into_convolution || sum.desc.as<BinaryDesc>().type != BinaryType::add) return;
    const auto& tensors = program_.tensors;
    if (tensors[position(sum.inputs[0])].shape != tensors[position(sum.inputs[1])].shape) return;
    if (sum.inputs[0] == sum.inputs[1]) return;
    // Of two convolutions the later one: the other's result is there by then.
    int best = -1;
    for (int side = 0; side < 2; ++side) {
      const int maker = soleMaker(sum.inputs[position(side)]);
      if (maker == kNobody || !canAdd(program_.operations[position(maker)])) continue;
      if (best < 0 || maker > soleMaker(sum.inputs[position(best)])) best = side;
    }
    if (best < 0) return;
    const int maker = soleMaker(sum.inputs[position(best)]);
    Operation fused = program_.operations[position(maker)];
    ConvolutionDesc convolution = fused.desc.as<ConvolutionDesc>();
    convolution.adds = true;
    fused.desc = convolution;
    fused.inputs.push_back(sum.inputs[position(1 - best)]);
    replace(maker, i, std::move(fused));
    moved(i);
  }

  static bool canAdd(const Operation& operation) {
    if (!operation.desc.is<ConvolutionDesc>()) return false;
    const auto& convolution = operation.desc.as<ConvolutionDesc>();
    return !convolution.adds && convolution.activation.type == FusedActivation::Type::none;
  }

  void activate(std::size_t i, const Operation& function, const FusedActivation& activation) {
    const int maker = soleMaker(function.inputs[0]);
    if (maker == kNobody) return;
    Operation fused = program_.operations[position(maker)];
    if (!takes(fused.desc, activation)) return;
    replace(maker, i, std::move(fused));
    moved(i);
  }

  // Whether the kernel applies it, which it does from now on.
  bool takes(OperatorKindDesc& desc, const FusedActivation& activation) const {
    if (desc.is<ConvolutionDesc>()) {
      ConvolutionDesc convolution = desc.as<ConvolutionDesc>();
      if (!wanted_.activation_into_convolution || convolution.activation.type != FusedActivation::Type::none)
        return false;
      convolution.activation = activation;
      desc = convolution;
      return true;
    }
    if (desc.is<FullyConnectedDesc>()) {
      FullyConnectedDesc dense = desc.as<FullyConnectedDesc>();
      if (!wanted_.activation_into_dense || dense.activation.type != FusedActivation::Type::none)
        return false;
      dense.activation = activation;
      desc = dense;
      return true;
    }
    if (desc.is<BatchNormDesc>() && activation.type == FusedActivation::Type::relu) {
      BatchNormDesc norm = desc.as<BatchNormDesc>();
      if (norm.relu) return false;
      norm.relu = true;
      desc = norm;
      return true;
    }
    return false;
  }

  bool isArray(int tensor) const { return program_.tensors[position(tensor)].variable >= 0; }

  int folded(Tensor tensor) {
    tensor.is_folded = true;
    program_.tensors.push_back(std::move(tensor));
    makers_.push_back(kNobody);
    readers_.push_back(1);
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  void moved(std::size_t i) {
    for (const int output : program_.operations[i].outputs) makers_[position(output)] = static_cast<int>(i);
  }

  Program& program_;
  const Fusions wanted_;
  std::vector<int> makers_;   // of each tensor: its operation
  std::vector<int> readers_;  // of each tensor: how many operations, views and outputs read it
  std::vector<bool> dead_;
};

}  // namespace

void fuse(Program& program, const Fusions& wanted) { Fusion(program, wanted).run(); }

}  // namespace pitwall::graph
