// Joins a BatchNorm and the relu after it in training, and their gradients: the kernels then read and write three arrays less. The
// gradient of the relu follows from the data again, so that the result between the two is nowhere.
#include <algorithm>
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/batch_norm.h"

namespace pitwall::graph {

namespace {

bool isRelu(const Operation& operation) {
  return operation.desc.is<ActivationDesc>() &&
         operation.desc.as<ActivationDesc>().type == ActivationType::relu;
}

class TrainingFusion {
 public:
  explicit TrainingFusion(Program& program)
      : program_(program), readers_(program.tensors.size()), is_kept_(program.tensors.size(), false) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      for (const int input : program_.operations[i].inputs)
        if (input >= 0) readers_[position(input)].push_back(static_cast<int>(i));
    for (const Tensor& tensor : program_.tensors)
      if (tensor.view_of >= 0) is_kept_[position(tensor.view_of)] = true;
    for (const int output : program_.outputs) is_kept_[position(output)] = true;
  }

  void run() {
    std::vector<bool> dead(program_.operations.size(), false);
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      Operation& norm = program_.operations[i];
      if (!norm.desc.is<BatchNormDesc>() || norm.pass != Pass::forward) continue;
      const int function = soleReader(norm.outputs[0]);
      if (function < 0 || !isForwardRelu(at(function))) continue;
      const int slope = reluGradientOf(function);
      const int gradient = slope < 0 ? kNone : soleReader(at(slope).outputs[0]);
      if (gradient < 0 || !isGradientOf(at(gradient), norm, at(slope))) continue;
      join(norm, at(function), at(slope), at(gradient));
      dead[position(function)] = dead[position(slope)] = true;
    }
    removeOperations(program_, dead);
  }

 private:
  static constexpr int kNone = -1;
  Operation& at(int operation) { return program_.operations[position(operation)]; }

  // The only operation that reads a tensor which is nothing else; kNone otherwise.
  int soleReader(int tensor) const {
    const Tensor& of = program_.tensors[position(tensor)];
    if (is_kept_[position(tensor)] || of.isArray() || readers_[position(tensor)].size() != 1) return kNone;
    return readers_[position(tensor)][0];
  }

  static bool isForwardRelu(const Operation& operation) {
    return isRelu(operation) && operation.pass != Pass::backward && operation.inputs.size() == 1;
  }

  // The operation of the relu's gradient, which reads its output.
  int reluGradientOf(int function) {
    const int output = at(function).outputs[0];
    for (const int reader : readers_[position(output)])
      if (isRelu(at(reader)) && at(reader).pass == Pass::backward && at(reader).inputs[1] == output)
        return reader;
    return kNone;
  }

  static bool isGradientOf(const Operation& gradient, const Operation& norm, const Operation& slope) {
    return gradient.desc.is<BatchNormDesc>() && gradient.pass == Pass::backward &&
           gradient.inputs[0] == norm.inputs[0] && gradient.inputs[4] == slope.outputs[0];
  }

  void join(Operation& norm, const Operation& function, const Operation& slope, Operation& gradient) {
    BatchNormDesc desc = norm.desc.as<BatchNormDesc>();
    desc.relu = true;
    norm.desc = gradient.desc = desc;
    norm.layer += "+" + function.layer;
    norm.flop += function.flop;
    norm.outputs[0] = function.outputs[0];
    gradient.layer += "+" + slope.layer;
    gradient.flop += slope.flop;
    gradient.inputs[4] = slope.inputs[2];
    gradient.inputs.push_back(norm.inputs[2]);
    if (!gradient.unread.empty()) gradient.unread.push_back(false);
  }

  Program& program_;
  std::vector<std::vector<int>> readers_;  // of each tensor: operations
  std::vector<bool> is_kept_;              // of each tensor: an output, or one with a view
};

}  // namespace

void fuseTraining(Program& program) { TrainingFusion(program).run(); }

}  // namespace pitwall::graph
