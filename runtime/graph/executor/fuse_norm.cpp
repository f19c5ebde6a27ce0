// Joins a BatchNorm with the convolution that alone reads its result, where that is large: the two are computed in pieces of
// the batch, so that the result is never whole in memory. Networks that normalize before they convolve, such as ResNet v2 and
// DenseNet, need much less memory.
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/normalized_convolution.h"

namespace pitwall::graph {

namespace {

class NormFusion {
 public:
  explicit NormFusion(Program& program) : program_(program), uses_(usesOf(program)) {}

  void run() {
    std::vector<bool> dead(program_.operations.size(), false);
    for (Operation& convolution : program_.operations) {
      if (!convolution.desc.is<ConvolutionDesc>()) continue;
      const int norm = uses_.maker[position(convolution.inputs[0])];
      if (norm < 0 || !isWorthwhile(program_.operations[position(norm)])) continue;
      if (!areFloats(program_, convolution.inputs)) continue;
      join(program_.operations[position(norm)], convolution);
      dead[position(norm)] = true;
    }
    removeOperations(program_, dead);
  }

 private:
  bool isWorthwhile(const Operation& norm) const {
    if (!norm.desc.is<BatchNormDesc>() || uses_.readers[position(norm.outputs[0])] != 1) return false;
    const Tensor& result = program_.tensors[position(norm.outputs[0])];
    const Bytes bytes = TensorSpec{.shape = result.shape, .dtype = result.dtype}.sizeBytes();
    return result.shape[0] > 1 && bytes > NormalizedConvolutionDesc::kPieceBytes &&
           areFloats(program_, norm.inputs);
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
  const Uses uses_;
};

}  // namespace

void fuseNorms(Program& program) { NormFusion(program).run(); }

}  // namespace pitwall::graph
