// Results of the forward pass that are computed again for the backward pass, so that they need not be kept until then.
//
// Always: large results of BatchNorms, and what LRNs keep. Their gradients read the data anyway, and the result follows from them in one
// pass over memory. With mirroring: about every second of the others. A result may be computed again from what is kept, and from one other
// that is computed again; from more at once it would need the memory that it saves.
#include <algorithm>
#include <vector>

#include "runtime/graph/executor/program.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/batch_norm.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/concat.h"
#include "runtime/operators/convolution.h"
#include "runtime/operators/linear.h"
#include "runtime/operators/lrn.h"
#include "runtime/operators/pooling.h"

namespace pitwall::graph {

namespace {

constexpr Bytes kLeastWithoutMirroring = 1 << 20;  // smaller ones are hardly worth an operator
constexpr int kMostOperations = 16;                // for one result
constexpr int kMostPasses = 2;                     // a BatchNorm and an activation
constexpr std::size_t kNear = 8;                   // operations: what a pass makes is not held for longer
constexpr int kNever = 1 << 20;                    // operations: it cannot be computed again

class ResultRecomputation {
 public:
  ResultRecomputation(Program& program, bool mirrors)
      : program_(program),
        mirrors_(mirrors),
        maker_(program.tensors.size(), -1),
        results_(program.tensors.size()),
        again_(program.tensors.size()) {
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& operation = program.operations[i];
      const bool is_backward = operation.phase == Phase::backward;
      for (std::size_t k = 0; is_backward && k < operation.inputs.size(); ++k)
        if (operation.inputs[k] >= 0 && operation.reads(k))
          results_[position(baseOf(program, operation.inputs[k]))].is_kept = true;
      for (const int output : operation.outputs)
        if (!is_backward) maker_[position(output)] = static_cast<int>(i);
    }
    for (const int output : program.outputs) hold(baseOf(program, output));
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
      if (program.tensors[i].isArray()) hold(static_cast<int>(i));
      if (program.tensors[i].view_of >= 0)
        results_[position(baseOf(program, static_cast<int>(i)))].is_viewed = true;
    }
  }

  void run() {
    for (const Operation& operation : program_.operations)
      if (operation.phase != Phase::backward)
        for (const int output : operation.outputs) decide(operation, output);
    std::vector<Operation> before = std::move(program_.operations);
    forward_ = before;
    program_.operations.clear();
    for (Operation& operation : before) {
      if (operation.phase == Phase::backward)
        for (std::size_t k = 0; k < operation.inputs.size(); ++k)
          if (operation.inputs[k] >= 0 && operation.reads(k))
            operation.inputs[k] = present(operation.inputs[k]);
      program_.operations.push_back(std::move(operation));
    }
  }

 private:
  struct Result {
    bool is_kept = false;    // the backward pass reads it
    bool is_held = false;    // it has its own memory anyway
    bool is_viewed = false;  // another tensor has its contents
    bool is_dropped = false;
    // To compute it again:
    int operations = kNever;
    int depth = 0;   // results on the way that are dropped, without those by passes over memory
    int passes = 0;  // from a result that is kept or dropped, where no other operation is on the way; else 0
  };

  struct Again {
    int tensor = -1;          // of the last computation
    std::size_t made_at = 0;  // the number of operations then
  };

  Result& of(int tensor) { return results_[position(tensor)]; }
  void hold(int tensor) { of(tensor).is_held = true; }
  bool isThere(int tensor) { return of(tensor).is_held || (of(tensor).is_kept && !of(tensor).is_dropped); }

  static bool isPass(const Operation& o) {
    return o.desc.is<BatchNormDesc>() || o.desc.is<ActivationDesc>() || o.desc.is<ClipDesc>();
  }
  // The output depends on the inputs alone. Of an LRN, what the library keeps for the gradient.
  static bool isRepeatable(const Operation& o, int output) {
    if (o.desc.is<BatchNormDesc>()) return o.pass == Pass::forward && output == o.outputs[0];
    if (o.desc.is<LrnDesc>()) return true;
    return o.outputs.size() == 1 &&
           (isPass(o) || o.desc.is<BinaryDesc>() || o.desc.is<AddNDesc>() || o.desc.is<LinearDesc>() ||
            o.desc.is<ConcatDesc>() || o.desc.is<ConvolutionDesc>() || o.desc.is<PoolingDesc>());
  }
  static std::size_t inputsOf(const Operation& o) { return o.desc.is<BatchNormDesc>() ? 1 : o.inputs.size(); }

  void decide(const Operation& operation, int tensor) {
    Result& result = of(tensor);
    if (!isRepeatable(operation, tensor) || result.is_viewed) return;
    result.operations = 1;
    for (std::size_t k = 0; k < inputsOf(operation); ++k) {
      const int input = baseOf(program_, operation.inputs[k]);
      if (isThere(input)) continue;
      result.operations = std::min(kNever, result.operations + of(input).operations);
      result.depth = std::max(result.depth, of(input).depth);
    }
    if (isPass(operation)) {
      const int input = baseOf(program_, operation.inputs[0]);
      const Result& from = of(input);
      if (isThere(input) || from.is_dropped || from.passes > 0) result.passes = 1 + from.passes;
    }
    if (!result.is_kept || result.is_held) return;
    const int depth = result.depth + (result.passes > 0 && result.passes <= kMostPasses ? 0 : 1);
    if (!isWanted(operation, tensor) || depth > 1 || result.operations > kMostOperations) return;
    result.is_dropped = true;
    result.depth = depth;
  }

  bool isWanted(const Operation& operation, int tensor) {
    if (mirrors_) return true;
    const Tensor& made = program_.tensors[position(operation.outputs[0])];
    return (operation.desc.is<BatchNormDesc>() || operation.desc.is<LrnDesc>()) &&
           of(tensor).operations == 1 &&
           TensorSpec{.shape = made.shape, .dtype = made.dtype}.sizeBytes() >= kLeastWithoutMirroring;
  }

  // The tensor of the result when the backward pass reads it; adds the operations that compute it again, unless it still has what they
  // made.
  int present(int tensor) {
    if (program_.tensors[position(tensor)].view_of >= 0 || position(tensor) >= results_.size() ||
        isThere(tensor) || maker_[position(tensor)] < 0)
      return tensor;
    Again& last = again_[position(tensor)];
    if (last.tensor >= 0 && (of(tensor).passes == 0 || program_.operations.size() - last.made_at <= kNear))
      return last.tensor;
    Operation again = repeated(forward_[position(maker_[position(tensor)])]);
    const auto& outputs = forward_[position(maker_[position(tensor)])].outputs;
    for (std::size_t k = 0; k < again.outputs.size(); ++k)
      again_[position(outputs[k])] = {again.outputs[k], program_.operations.size() + 1};
    program_.operations.push_back(std::move(again));
    return again_[position(tensor)].tensor;
  }

  Operation repeated(const Operation& first) {
    Operation again = first;
    again.phase = Phase::backward;
    for (std::size_t k = 0; k < inputsOf(first); ++k) again.inputs[k] = present(first.inputs[k]);
    if (first.desc.is<BatchNormDesc>()) {
      again.pass = Pass::inference;  // with the statistics of the batch
      again.inputs.insert(again.inputs.end(), {first.outputs[1], first.outputs[2]});
      again.outputs.resize(1);
      again.flop = (first.desc.as<BatchNormDesc>().relu ? 3 : 2) *
                   program_.tensors[position(first.outputs[0])].shape.elements();
    }
    for (int& output : again.outputs) {
      const Tensor& made = program_.tensors[position(output)];
      Tensor anew{.name = made.name, .shape = made.shape, .dtype = made.dtype};
      output = static_cast<int>(program_.tensors.size());
      program_.tensors.push_back(std::move(anew));
    }
    return again;
  }

  Program& program_;
  const bool mirrors_;
  std::vector<int> maker_;       // of each tensor: its operation of the forward pass
  std::vector<Result> results_;  // by tensor
  std::vector<Again> again_;     // by tensor
  std::vector<Operation> forward_;
};

}  // namespace

void recomputeResults(Program& program, bool mirrors) { ResultRecomputation(program, mirrors).run(); }

}  // namespace pitwall::graph
