// The gradient of a BatchNorm of data that need none, such as a network's images, where gamma is fixed: its beta alone has a gradient,
// the sum over each channel of what the convolution after it gives. The two become one operation that computes the sums, without the
// gradient of the convolution's data. ResNet v2 begins with such a BatchNorm.
#include <algorithm>
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/normalized_convolution.h"

namespace pitwall::graph {

namespace {

class ShiftGradientFusion {
 public:
  explicit ShiftGradientFusion(Program& program)
      : program_(program), maker_(program.tensors.size(), -1), readers_(program.tensors.size(), 0) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      for (const int input : program_.operations[i].inputs)
        if (input >= 0) ++readers_[position(input)];
      for (const int output : program_.operations[i].outputs) maker_[position(output)] = static_cast<int>(i);
    }
    for (const Tensor& tensor : program_.tensors)
      if (tensor.view_of >= 0) ++readers_[position(tensor.view_of)];
    for (const int output : program_.outputs) ++readers_[position(output)];
  }

  void run() {
    std::vector<bool> dead(program_.operations.size(), false);
    for (Operation& norm : program_.operations) {
      if (!isOfShiftAlone(norm)) continue;
      const int convolution = readers_[position(norm.inputs[4])] == 1 ? maker_[position(norm.inputs[4])] : -1;
      if (convolution < 0 || !canSum(program_.operations[position(convolution)])) continue;
      join(program_.operations[position(convolution)], norm);
      dead[position(convolution)] = true;
    }
    std::vector<Operation> kept;
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      if (!dead[i]) kept.push_back(std::move(program_.operations[i]));
    program_.operations = std::move(kept);
  }

 private:
  bool isOfShiftAlone(const Operation& norm) const {
    if (!norm.desc.is<BatchNormDesc>() || norm.pass != Pass::backward) return false;
    const auto& desc = norm.desc.as<BatchNormDesc>();
    const int of_data = norm.outputs[0];
    return desc.fix_gamma && !desc.relu && readers_[position(of_data)] == 0 &&
           !program_.tensors[position(of_data)].isArray() && areFloats(norm.inputs);
  }

  bool canSum(const Operation& convolution) const {
    return convolution.desc.is<ConvolutionDesc>() && convolution.pass == Pass::backwardData &&
           convolution.desc.as<ConvolutionDesc>().groups == 1 && convolution.inputs.size() == 2 &&
           program_.tensors[position(convolution.outputs[0])].shape.rank() == 4 &&
           areFloats(convolution.inputs);
  }

  bool areFloats(const std::vector<int>& tensors) const {
    return std::ranges::all_of(
        tensors, [this](int t) { return program_.tensors[position(t)].dtype == DType::float32; });
  }

  void join(const Operation& convolution, Operation& norm) const {
    norm.desc =
        NormalizedConvolutionDesc{norm.desc.as<BatchNormDesc>(), convolution.desc.as<ConvolutionDesc>()};
    norm.name = "_backward_NormalizedConvolution";
    norm.layer += "+" + convolution.layer;
    norm.inputs = {convolution.inputs[0], convolution.inputs[1], norm.inputs[0]};
    norm.unread = {false, false, true};
    norm.outputs.erase(norm.outputs.begin());
    norm.flop = program_.tensors[position(convolution.inputs[0])].shape.elements();
    norm.like = -1;
  }

  Program& program_;
  std::vector<int> maker_;    // of each tensor: its operation
  std::vector<int> readers_;  // of each tensor: how many operations, views and outputs read it
};

}  // namespace

void fuseShiftGradients(Program& program) { ShiftGradientFusion(program).run(); }

}  // namespace pitwall::graph
