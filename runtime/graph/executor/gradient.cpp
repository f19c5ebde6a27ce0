#include "runtime/graph/executor/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/try.h"
#include "runtime/graph/executor/recompute.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/cast.h"
#include "runtime/operators/reorder.h"

namespace pitwall::graph {

namespace {

using Kind = GradientSource::Kind;

bool contains(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// How many gradients the rule gives this input; of an unknown rule 1, which ends in an error.
int gradientsOf(const GradientRule& rule, int input) {
  if (rule.stops) return 0;
  if (!rule.isKnown()) return 1;
  int count = contains(rule.passes, input) ? 1 : 0;
  for (const GradientKernel& kernel : rule.kernels) count += contains(kernel.gradients, input) ? 1 : 0;
  return count;
}

class BackwardPass {
 public:
  BackwardPass(const IndexedGraph& graph, LoweredGraph& lowered, const BackwardOptions& options)
      : graph_(graph),
        lowered_(lowered),
        program_(lowered.program),
        options_(options),
        results_(graph, lowered),
        needs_(lowered.tensors.size()),
        expected_(lowered.tensors.size()),
        parts_(lowered.tensors.size()) {}

  Result<std::vector<int>> run() {
    findNeeds();
    giveHeads();
    for (int id = static_cast<int>(graph_.nodes.size()) - 1; id >= 0; --id) {
      const int first = graph_.first_entry[position(id)];
      if (lowered_.same[position(first)] != first) continue;
      const Node& node = *graph_.nodes[position(id)];
      if (node.isVariable()) {
        finish(id, first);
      } else {
        PITWALL_TRY(differentiate(id, node));
      }
    }
    return std::move(zero_);
  }

 private:
  int entryOf(const NodeOutput& output) const { return lowered_.same[position(graph_.entryOf(output))]; }
  const GradientRule& ruleOf(int id) const { return lowered_.nodes[position(id)].gradient; }

  // What leads to a variable whose gradient is asked for, and how many gradients will be added up there.
  void findNeeds() {
    for (int id = 0; id < static_cast<int>(graph_.nodes.size()); ++id) {
      const Node& node = *graph_.nodes[position(id)];
      const int first = graph_.first_entry[position(id)];
      if (lowered_.same[position(first)] != first) continue;
      bool needs = node.isVariable() && options_.requests[position(id)] != GradientRequest::none;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const int entry = entryOf(node.inputs[i]);
        const int count = gradientsOf(ruleOf(id), static_cast<int>(i));
        if (count == 0 || !needs_[position(entry)]) continue;
        expected_[position(entry)] += count;
        needs = true;
      }
      for (int i = 0; i < node.outputs; ++i) needs_[position(first + i)] = needs;
    }
  }

  void giveHeads() {
    is_loss_head_.assign(graph_.nodes.size(), false);
    std::vector<int> maker;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      maker.insert(maker.end(), position(graph_.nodes[id]->outputs), static_cast<int>(id));
    for (std::size_t i = 0; i < graph_.heads.size(); ++i) {
      const int entry = lowered_.same[position(graph_.heads[i])];
      if (!needs_[position(entry)]) continue;
      const int id = maker[position(entry)];
      if (!graph_.nodes[position(id)]->isVariable() && ruleOf(id).is_loss) {
        is_loss_head_[position(id)] = true;
        continue;
      }
      const int output = lowered_.tensors[position(entry)];
      const std::string name = program_.tensors[position(output)].name;
      const int head = addLike(output, name + "_head_gradient");
      program_.tensors[position(head)].head = static_cast<int>(i);
      ++expected_[position(entry)];
      give(entry, name, head);
    }
  }

  // Of the shape and type of another.
  int addLike(int tensor, std::string name) {
    const Tensor& like = program_.tensors[position(tensor)];
    program_.tensors.push_back({.name = std::move(name), .shape = like.shape, .dtype = like.dtype});
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  const Shape& shapeOf(int tensor) const { return program_.tensors[position(tensor)].shape; }

  DType typeOf(int tensor) const { return program_.tensors[position(tensor)].dtype; }

  // A gradient in the shape and type of what it is the gradient of.
  int gradientAs(const std::string& layer, int gradient, int of) {
    if (typeOf(gradient) != typeOf(of)) {
      const int converted = addLike(gradient, layer + "_gradient");
      program_.tensors[position(converted)].dtype = typeOf(of);
      program_.operations.push_back({.layer = layer,
                                     .name = "_backward_cast",
                                     .desc = CastDesc{typeOf(of)},
                                     .inputs = {gradient},
                                     .outputs = {converted},
                                     .pass = Pass::forward,
                                     .phase = Phase::backward});
      gradient = converted;
    }
    if (shapeOf(gradient) == shapeOf(of)) return gradient;
    const int view = addLike(of, program_.tensors[position(gradient)].name);
    program_.tensors[position(view)].view_of = gradient;
    return view;
  }

  // Of the shape and type of a tensor.
  int zerosLike(int tensor) {
    for (const int zeros : zeros_)
      if (shapeOf(zeros) == shapeOf(tensor) && typeOf(zeros) == typeOf(tensor)) return zeros;
    zeros_.push_back(addLike(tensor, "zeros"));
    program_.tensors[position(zeros_.back())].is_zeros = true;
    return zeros_.back();
  }

  int sum(const std::string& layer, const std::vector<int>& parts) {
    const int count = static_cast<int>(parts.size()), total = addLike(parts[0], layer + "_gradient");
    Operation operation{.layer = layer,
                        .name = count == 2 ? "_grad_add" : "add_n",
                        .desc = AddNDesc{count},
                        .inputs = parts,
                        .outputs = {total},
                        .flop = (count - 1) * shapeOf(total).elements(),
                        .pass = Pass::forward,
                        .phase = Phase::backward};
    if (count == 2) operation.desc = BinaryDesc{BinaryType::add};
    program_.operations.push_back(std::move(operation));
    return total;
  }

  // One gradient more of an entry.
  void give(int entry, const std::string& layer, int gradient) {
    auto& parts = parts_[position(entry)];
    parts.push_back(gradient);
    if (parts.size() == 2 && expected_[position(entry)] >= options_.sum_cap) parts = {sum(layer, parts)};
  }

  // The gradient of an entry; -1 when nothing gave one.
  int total(int entry, const std::string& layer) {
    auto& parts = parts_[position(entry)];
    if (parts.empty()) return -1;
    if (parts.size() > 1) parts = {sum(layer, parts)};
    return parts[0];
  }

  Status differentiate(int id, const Node& node) {
    const int first = graph_.first_entry[position(id)];
    if (!needs_[position(first)]) return {};
    const GradientRule& rule = ruleOf(id);
    std::vector<int> heads;
    bool is_reached = is_loss_head_[position(id)];
    for (int i = 0; i < node.outputs; ++i) {
      heads.push_back(total(first + i, node.name));
      is_reached = is_reached || heads.back() >= 0;
    }
    if (!is_reached) return {};
    if (!rule.isKnown())
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: there is no gradient of this operator; ask for no gradient of what it is "
                              "computed from, or put a BlockGrad after it",
                              describe(node)));
    for (const int input : rule.passes) {
      const int entry = entryOf(node.inputs[position(input)]);
      if (heads[0] < 0 || !needs_[position(entry)]) continue;
      give(entry, node.name, gradientAs(node.name, heads[0], lowered_.tensors[position(entry)]));
    }
    for (const GradientKernel& kernel : rule.kernels) addKernel(id, node, kernel, heads);
    return {};
  }

  int sourceOf(int id, const Node& node, const GradientSource& source, const std::vector<int>& heads) {
    if (source.kind == Kind::zeros)
      return zerosLike(lowered_.tensors[position(entryOf(node.inputs[position(source.index)]))]);
    if (source.kind != Kind::gradient) return results_.tensorOf(id, source);
    if (heads[position(source.index)] >= 0) return heads[position(source.index)];
    const int entry = graph_.first_entry[position(id)] + source.index;
    return zerosLike(lowered_.tensors[position(entry)]);
  }

  void addKernel(int id, const Node& node, const GradientKernel& kernel, const std::vector<int>& heads) {
    const auto entryOfGradient = [&](int input) { return entryOf(node.inputs[position(input)]); };
    const auto needed = [&](int input) { return needs_[position(entryOfGradient(input))]; };
    if (std::none_of(kernel.gradients.begin(), kernel.gradients.end(), needed)) return;
    Operation operation{.layer = node.name,
                        .name = kernel.name,
                        .desc = kernel.desc,
                        .inputs = std::vector<int>(kernel.inputs.size(), -1),
                        .flop = kernel.flop,
                        .pass = kernel.pass,
                        .phase = Phase::backward};
    for (const bool read : {true, false})
      for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
        if (kernel.inputs[i].is_read == read)
          operation.inputs[i] = sourceOf(id, node, kernel.inputs[i], heads);
    for (const GradientSource& source : kernel.inputs) operation.unread.push_back(!source.is_read);
    if (kernel.like >= 0) operation.like = lowered_.tensors[position(entryOfGradient(kernel.like))];
    for (const int input : kernel.gradients) {
      const int of = lowered_.tensors[position(entryOfGradient(input))];
      operation.outputs.push_back(addLike(of, program_.tensors[position(of)].name + "_gradient"));
    }
    const std::vector<int> made = operation.outputs;
    program_.operations.push_back(std::move(operation));
    for (std::size_t i = 0; i < made.size(); ++i)
      if (needed(kernel.gradients[i])) give(entryOfGradient(kernel.gradients[i]), node.name, made[i]);
  }

  // Whether its memory can be that of an array: an operation writes it, and no other array has it.
  bool canBeArray(int tensor) const {
    const Tensor& of = program_.tensors[position(tensor)];
    return !of.isArray() && of.view_of < 0;
  }

  // The gradient of a variable becomes its array's contents, or is added to them.
  void finish(int id, int entry) {
    const GradientRequest request = options_.requests[position(id)];
    if (request == GradientRequest::none) return;
    const std::string& name = graph_.nodes[position(id)]->name;
    int gradient = total(entry, name);
    if (gradient < 0) {
      if (request == GradientRequest::write) zero_.push_back(id);
      return;
    }
    Operation last{.layer = name, .inputs = {gradient}, .pass = Pass::forward, .phase = Phase::backward};
    if (request == GradientRequest::write && canBeArray(gradient)) {
      program_.tensors[position(gradient)].gradient_of = id;
      program_.tensors[position(gradient)].name = name;
      return;
    }
    const int array = addLike(gradient, name);
    program_.tensors[position(array)].gradient_of = id;
    last.outputs = {array};
    if (request == GradientRequest::write) {
      last.name = "_copyto";
      last.desc = ReorderDesc{nullptr};
    } else {
      last.name = "_grad_add";
      last.desc = BinaryDesc{BinaryType::add};
      last.inputs = {array, gradient};
      last.flop = shapeOf(gradient).elements();
    }
    program_.operations.push_back(std::move(last));
  }

  const IndexedGraph& graph_;
  LoweredGraph& lowered_;
  Program& program_;
  const BackwardOptions& options_;
  ForwardResults results_;
  std::vector<bool> needs_;              // by entry: a gradient that is asked for depends on its gradient
  std::vector<int> expected_;            // by entry: how many gradients it gets
  std::vector<std::vector<int>> parts_;  // by entry: gradients that are not added up yet
  std::vector<bool> is_loss_head_;       // by node
  std::vector<int> zeros_;               // tensors
  std::vector<int> zero_;                // nodes
};

}  // namespace

Result<std::vector<int>> addBackwardPass(const IndexedGraph& graph, LoweredGraph& lowered,
                                         const BackwardOptions& options) {
  return BackwardPass(graph, lowered, options).run();
}

}  // namespace pitwall::graph
