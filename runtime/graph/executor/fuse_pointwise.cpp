// Joins functions of each element that read each other's results: one kernel computes a chain, or a tree, in one pass over memory. A
// result that something else reads too is an output of that kernel.
//
// The operations are in an order in which each comes after what it reads. A group runs at the place of its last member: so an
// operation joins the groups that make its inputs only where nothing between reads the results of those.
#include <algorithm>
#include <optional>
#include <set>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/linear.h"
#include "runtime/operators/pointwise.h"
#include "runtime/operators/reciprocal.h"
#include "runtime/short_float.h"

namespace pitwall::graph {

namespace {

using PointwiseFunction = PointwiseDesc::Function;

// A function of one output of an operation. Operands are inputs of the operation, or, from kMade on, what the functions before made.
constexpr int kMade = 100;
struct Formula {
  PointwiseFunction function;
  int a, b;
  float alpha = 0, beta = 0;
};
struct Formulas {
  std::vector<Formula> steps;
  std::vector<int> outputs;  // operands
};

Formulas unary(PointwiseFunction function, float alpha = 0, float beta = 0) {
  return {{{function, 0, 0, alpha, beta}}, {kMade}};
}

std::optional<Formulas> forwardOf(ActivationType type) {
  switch (type) {
    case ActivationType::relu: return unary(PointwiseFunction::relu);
    case ActivationType::sigmoid: return unary(PointwiseFunction::sigmoid);
    case ActivationType::tanh: return unary(PointwiseFunction::tanh);
    case ActivationType::softrelu: break;  // the library's is faster, alone
  }
  return {};
}

// Of data, output, gradient of the output.
Formulas backwardOf(ActivationType type) {
  const auto times = [](PointwiseFunction function, int value) {
    return Formulas{{{function, 2, value}}, {kMade}};
  };
  switch (type) {
    case ActivationType::relu: return times(PointwiseFunction::reluGradient, 1);
    case ActivationType::sigmoid: return times(PointwiseFunction::sigmoidGradient, 1);
    case ActivationType::tanh: return times(PointwiseFunction::tanhGradient, 1);
    case ActivationType::softrelu: return times(PointwiseFunction::softreluGradient, 0);
  }
  return {};
}

Formulas forwardOf(BinaryType type) {
  switch (type) {
    case BinaryType::add: return {{{PointwiseFunction::add, 0, 1}}, {kMade}};
    case BinaryType::subtract: return {{{PointwiseFunction::subtract, 0, 1}}, {kMade}};
    case BinaryType::multiply: return {{{PointwiseFunction::multiply, 0, 1}}, {kMade}};
    case BinaryType::divide: return {{{PointwiseFunction::divide, 0, 1}}, {kMade}};
    case BinaryType::maximum: return {{{PointwiseFunction::maximum, 0, 1}}, {kMade}};
    case BinaryType::minimum: return {{{PointwiseFunction::minimum, 0, 1}}, {kMade}};
  }
  return {};
}

// Of a, b, gradient of the output; those that are not linear in a and b, or products, are left to their kernels.
std::optional<Formulas> backwardOf(BinaryType type) {
  if (type == BinaryType::multiply)
    return Formulas{{{PointwiseFunction::multiply, 2, 1}, {PointwiseFunction::multiply, 2, 0}},
                    {kMade, kMade + 1}};
  if (type == BinaryType::subtract)
    return Formulas{{{PointwiseFunction::linear, 2, 2, 1, 0}, {PointwiseFunction::linear, 2, 2, -1, 0}},
                    {kMade, kMade + 1}};
  return {};
}

Formulas sumOf(int inputs) {
  Formulas sum;
  for (int i = 1; i < inputs; ++i)
    sum.steps.push_back({PointwiseFunction::add, i == 1 ? 0 : kMade + i - 2, i});
  sum.outputs = {kMade + inputs - 2};
  return sum;
}

std::optional<Formulas> formulasOf(const Operation& operation) {
  const OperatorKindDesc& desc = operation.desc;
  const bool backward = operation.pass == Pass::backward;
  if (operation.pass == Pass::backwardData || operation.pass == Pass::backwardWeights) return {};
  if (desc.is<ActivationDesc>())
    return backward ? backwardOf(desc.as<ActivationDesc>().type) : forwardOf(desc.as<ActivationDesc>().type);
  if (desc.is<ClipDesc>()) {
    const auto& clip = desc.as<ClipDesc>();
    if (backward)
      return Formulas{{{PointwiseFunction::clipGradient, 1, 0, clip.minimum, clip.maximum}}, {kMade}};
    return unary(PointwiseFunction::clip, clip.minimum, clip.maximum);
  }
  if (desc.is<BinaryDesc>())
    return backward ? backwardOf(desc.as<BinaryDesc>().type)
                    : std::optional(forwardOf(desc.as<BinaryDesc>().type));
  if (backward) return {};
  if (desc.is<LinearDesc>())
    return unary(PointwiseFunction::linear, desc.as<LinearDesc>().scale, desc.as<LinearDesc>().shift);
  if (desc.is<ReciprocalDesc>())
    return unary(PointwiseFunction::reciprocal, desc.as<ReciprocalDesc>().scalar);
  if (desc.is<AddNDesc>() && desc.as<AddNDesc>().inputs >= 2) return sumOf(desc.as<AddNDesc>().inputs);
  return {};
}

class PointwiseFusion {
 public:
  explicit PointwiseFusion(Program& program)
      : program_(program),
        readers_(program.tensors.size()),
        group_of_(program.operations.size(), -1),
        makers_(program.tensors.size(), -1) {
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      for (const int input : program_.operations[i].inputs)
        readers_[position(input)].push_back(static_cast<int>(i));
    is_kept_.assign(program_.tensors.size(), false);
    for (const Tensor& tensor : program_.tensors)
      if (tensor.view_of >= 0) is_kept_[position(tensor.view_of)] = true;
    for (const int output : program_.outputs) is_kept_[position(output)] = true;
  }

  void run() {
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      if (mayJoin(program_.operations[i])) join(static_cast<int>(i));
      for (const int output : program_.operations[i].outputs) makers_[position(output)] = static_cast<int>(i);
    }
    std::vector<Operation> fused;
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      const int group = group_of_[i];
      const bool is_single = group < 0 || members_[position(group)].size() == 1;
      if (is_single)
        fused.push_back(std::move(program_.operations[i]));
      else if (members_[position(group)].back() == static_cast<int>(i))
        fused.push_back(made(members_[position(group)]));
    }
    program_.operations = std::move(fused);
  }

 private:
  const Shape& shapeOf(int tensor) const { return program_.tensors[position(tensor)].shape; }

  bool mayJoin(const Operation& operation) const {
    if (!formulasOf(operation) || operation.outputs.empty()) return false;
    const Tensor& made = program_.tensors[position(operation.outputs[0])];
    if (!isReal(made.dtype)) return false;
    const auto isPlain = [&](int tensor) {
      const Tensor& it = program_.tensors[position(tensor)];
      return it.shape == made.shape && it.dtype == made.dtype;
    };
    const auto isOwn = [&](int tensor) {
      return isPlain(tensor) && !program_.tensors[position(tensor)].isArray();
    };
    for (std::size_t i = 0; i < operation.inputs.size(); ++i)
      if (operation.reads(i) && !isPlain(operation.inputs[i])) return false;
    return std::all_of(operation.outputs.begin(), operation.outputs.end(), isOwn);
  }

  // With all groups that make its inputs, as far as they may run at its place and the kernel does not get too large.
  void join(int i) {
    const Operation& operation = program_.operations[position(i)];
    std::vector<int> members{i};
    std::set<int> joined;
    for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
      if (!operation.reads(k)) continue;
      const int maker = makers_[position(operation.inputs[k])];
      const int group = maker < 0 ? -1 : group_of_[position(maker)];
      if (group < 0 || joined.contains(group) || !mayMove(members_[position(group)], i)) continue;
      std::vector<int> all = members_[position(group)];
      all.insert(all.end(), members.begin(), members.end());
      std::sort(all.begin(), all.end());
      if (!fits(all)) continue;
      members = std::move(all);
      joined.insert(group);
    }
    for (const int member : members) group_of_[position(member)] = static_cast<int>(members_.size());
    members_.push_back(std::move(members));
  }

  // Whether nothing before operation `to`, but the members, reads their results.
  bool mayMove(const std::vector<int>& members, int to) const {
    const Operation& last = program_.operations[position(to)];
    if (program_.operations[position(members[0])].phase != last.phase ||
        shapeOf(program_.operations[position(members[0])].outputs[0]) != shapeOf(last.outputs[0]))
      return false;
    for (const int member : members)
      for (const int output : program_.operations[position(member)].outputs)
        for (const int reader : readers_[position(output)])
          if (reader < to && !std::binary_search(members.begin(), members.end(), reader)) return false;
    return true;
  }

  bool fits(const std::vector<int>& members) const {
    const Operation operation = made(members);
    const auto& desc = operation.desc.as<PointwiseDesc>();
    return operation.inputs.size() <= PointwiseDesc::kMostInputs && !desc.outputs.empty() &&
           desc.instructions.size() <= PointwiseDesc::kMostInstructions &&
           desc.outputs.size() <= PointwiseDesc::kMostOutputs;
  }

  bool isNeeded(int tensor, const std::vector<int>& members) const {
    if (is_kept_[position(tensor)]) return true;
    const auto& readers = readers_[position(tensor)];
    return std::any_of(readers.begin(), readers.end(), [&](int reader) {
      return !std::binary_search(members.begin(), members.end(), reader);
    });
  }

  // The members, in their order, as one operation.
  Operation made(const std::vector<int>& members) const {
    Operation all;
    PointwiseDesc desc;
    std::vector<int> made_by_members;
    for (const int member : members)
      for (const int output : program_.operations[position(member)].outputs)
        made_by_members.push_back(output);
    for (const int member : members) {
      const Operation& operation = program_.operations[position(member)];
      for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
        const int input = operation.inputs[k];
        const bool is_own =
            std::find(made_by_members.begin(), made_by_members.end(), input) != made_by_members.end();
        if (operation.reads(k) && !is_own &&
            std::find(all.inputs.begin(), all.inputs.end(), input) == all.inputs.end())
          all.inputs.push_back(input);
      }
    }
    desc.inputs = static_cast<int>(all.inputs.size());
    std::vector<int> in_register = all.inputs;  // by register: its tensor; -1 of what is between
    const auto registerOf = [&](int tensor) {
      return static_cast<int>(std::find(in_register.begin(), in_register.end(), tensor) -
                              in_register.begin());
    };
    for (const int member : members) {
      const Operation& operation = program_.operations[position(member)];
      const Formulas formulas = *formulasOf(operation);
      const int first = static_cast<int>(in_register.size());
      const auto operand = [&](int which) {
        return static_cast<std::uint8_t>(which >= kMade ? first + which - kMade
                                                        : registerOf(operation.inputs[position(which)]));
      };
      for (const Formula& f : formulas.steps) {
        desc.instructions.push_back({f.function, operand(f.a), operand(f.b), f.alpha, f.beta});
        in_register.push_back(-1);
      }
      for (std::size_t k = 0; k < operation.outputs.size() && k < formulas.outputs.size(); ++k)
        in_register[position(first + formulas.outputs[k] - kMade)] = operation.outputs[k];
      all.flop += operation.flop;
      addLayer(all.layer, operation.layer);
    }
    for (const int output : made_by_members) {
      if (!isNeeded(output, members)) continue;
      all.outputs.push_back(output);
      desc.outputs.push_back(static_cast<std::uint8_t>(registerOf(output)));
    }
    const Operation& last = program_.operations[position(members.back())];
    all.name = "_FusedOp";
    all.desc = desc;
    all.pass = last.pass == Pass::inference ? Pass::inference : Pass::forward;
    all.phase = last.phase;
    return all;
  }

  static void addLayer(std::string& layers, const std::string& layer) {
    if (("+" + layers + "+").find("+" + layer + "+") != std::string::npos) return;
    layers += (layers.empty() ? "" : "+") + layer;
  }

  Program& program_;
  std::vector<std::vector<int>> readers_;  // of each tensor: operations
  std::vector<bool> is_kept_;              // of each tensor: something that is no operation needs it
  std::vector<int> group_of_;              // of each operation; -1: none
  std::vector<std::vector<int>> members_;  // of each group: operations in their order
  std::vector<int> makers_;                // of each tensor, as far as the walk has come: its operation
};

}  // namespace

void fusePointwise(Program& program) { PointwiseFusion(program).run(); }

}  // namespace pitwall::graph
