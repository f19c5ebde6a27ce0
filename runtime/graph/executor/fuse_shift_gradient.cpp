// The gradient of a BatchNorm of data that need none, such as a network's images, where gamma is fixed: its beta alone has a gradient,
// the sum over each channel of what the convolution after it gives. The two become one operation that computes the sums, without the
// gradient of the convolution's data. ResNet v2 begins with such a BatchNorm.
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/normalized_convolution.h"

namespace pitwall::graph {

namespace {

class ShiftGradientFusion {
 public:
  explicit ShiftGradientFusion(Program& program) : program_(program), uses_(usesOf(program)) {}

  void run() {
    std::vector<bool> dead(program_.operations.size(), false);
    for (Operation& norm : program_.operations) {
      if (!isOfShiftAlone(norm)) continue;
      const int convolution =
          uses_.readers[position(norm.inputs[4])] == 1 ? uses_.maker[position(norm.inputs[4])] : -1;
      if (convolution < 0 || !canSum(program_.operations[position(convolution)])) continue;
      join(program_.operations[position(convolution)], norm);
      dead[position(convolution)] = true;
    }
    removeOperations(program_, dead);
  }

 private:
  bool isOfShiftAlone(const Operation& norm) const {
    if (!norm.desc.is<BatchNormDesc>() || norm.pass != Pass::backward) return false;
    const auto& desc = norm.desc.as<BatchNormDesc>();
    const int of_data = norm.outputs[0];
    return desc.fix_gamma && !desc.relu && uses_.readers[position(of_data)] == 0 &&
           !program_.tensors[position(of_data)].isArray() && areFloats(program_, norm.inputs);
  }

  bool canSum(const Operation& convolution) const {
    return convolution.desc.is<ConvolutionDesc>() && convolution.pass == Pass::backwardData &&
           convolution.desc.as<ConvolutionDesc>().groups == 1 && convolution.inputs.size() == 2 &&
           program_.tensors[position(convolution.outputs[0])].shape.rank() == 4 &&
           areFloats(program_, convolution.inputs);
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
  const Uses uses_;
};

}  // namespace

void fuseShiftGradients(Program& program) { ShiftGradientFusion(program).run(); }

}  // namespace pitwall::graph
