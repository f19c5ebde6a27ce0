// Joins a BatchNorm with the convolution that alone reads its result, where that is large: the two are computed in pieces of
// the batch, so that the result is never whole in memory. Networks that normalize before they convolve, such as ResNet v2 and
// DenseNet, need much less memory.
#include <algorithm>
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/normalized_convolution.h"

namespace pitwall::graph {

namespace {

class NormFusion {
 public:
  explicit NormFusion(Program& program)
      : program_(program), maker_(program.tensors.size(), -1), readers_(program.tensors.size(), 0) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      for (const int input : program_.operations[i].inputs) ++readers_[position(input)];
      for (const int output : program_.operations[i].outputs) maker_[position(output)] = static_cast<int>(i);
    }
    for (const Tensor& tensor : program_.tensors)
      if (tensor.view_of >= 0) ++readers_[position(tensor.view_of)];
    for (const int output : program_.outputs) ++readers_[position(output)];
  }

  void run() {
    std::vector<bool> dead(program_.operations.size(), false);
    for (Operation& convolution : program_.operations) {
      if (!convolution.desc.is<ConvolutionDesc>()) continue;
      const int norm = maker_[position(convolution.inputs[0])];
      if (norm < 0 || !isWorthwhile(program_.operations[position(norm)])) continue;
      if (!areFloats(convolution.inputs)) continue;
      join(program_.operations[position(norm)], convolution);
      dead[position(norm)] = true;
    }
    std::vector<Operation> kept;
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      if (!dead[i]) kept.push_back(std::move(program_.operations[i]));
    program_.operations = std::move(kept);
  }

 private:
  bool isWorthwhile(const Operation& norm) const {
    if (!norm.desc.is<BatchNormDesc>() || readers_[position(norm.outputs[0])] != 1) return false;
    const Tensor& result = program_.tensors[position(norm.outputs[0])];
    const Bytes bytes = TensorSpec{.shape = result.shape, .dtype = result.dtype}.sizeBytes();
    return result.shape[0] > 1 && bytes > NormalizedConvolutionDesc::kPieceBytes && areFloats(norm.inputs);
  }

  bool areFloats(const std::vector<int>& tensors) const {
    return std::ranges::all_of(
        tensors, [this](int t) { return program_.tensors[position(t)].dtype == DType::float32; });
  }

  static void join(const Operation& norm, Operation& convolution) {
    convolution.desc =
        NormalizedConvolutionDesc{norm.desc.as<BatchNormDesc>(), convolution.desc.as<ConvolutionDesc>()};
    convolution.layer = norm.layer + "+" + convolution.layer;
    convolution.flop += norm.flop;
    convolution.inputs[0] = norm.inputs[0];
    convolution.inputs.insert(convolution.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
  }

  Program& program_;
  std::vector<int> maker_;    // of each tensor: its operation
  std::vector<int> readers_;  // of each tensor: how many operations, views and outputs read it
};

}  // namespace

void fuseNorms(Program& program) { NormFusion(program).run(); }

}  // namespace pitwall::graph
