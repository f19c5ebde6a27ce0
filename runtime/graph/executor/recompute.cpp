#include "runtime/graph/executor/recompute.h"

#include <algorithm>
#include <utility>

namespace pitwall::graph {

namespace {

using Kind = GradientSource::Kind;

bool asksForIt(const Node& node) {
  const auto found = node.attributes.find("__force_mirroring__");
  return found != node.attributes.end() && (found->second == "True" || found->second == "1");
}

}  // namespace

ForwardResults::ForwardResults(const IndexedGraph& graph, LoweredGraph& lowered)
    : graph_(graph),
      lowered_(lowered),
      is_head_(lowered.tensors.size()),
      again_(lowered.tensors.size(), -1),
      is_again_(graph.nodes.size()),
      extras_again_(graph.nodes.size()) {
  for (const int head : graph.heads) is_head_[position(lowered.same[position(head)])] = true;
  for (int id = 0; id < static_cast<int>(graph.nodes.size()); ++id) {
    const Node& node = *graph.nodes[position(id)];
    maker_.insert(maker_.end(), position(node.outputs), id);
    const Lowered& made = lowered.nodes[position(id)];
    const bool is_kernel = lowered.operations[position(id)] >= 0;
    const bool repeatable = made.gradient.recomputation.has_value() || made.updates.empty();
    const bool is_view = !node.isVariable() && made.kind == Lowered::Kind::view;
    may_again_.push_back(is_view || (is_kernel && repeatable && !made.gradient.is_kept && asksForIt(node)));
  }
}

// A result that is an output of the graph has its own memory anyway.
bool ForwardResults::isMirrored(int entry) const {
  const int id = maker_[position(entry)];
  if (!may_again_[position(id)] || is_head_[position(entry)]) return false;
  const bool first_only = lowered_.nodes[position(id)].gradient.recomputation.has_value();
  return !first_only || entry == graph_.first_entry[position(id)];
}

// Of what its second computation reads.
std::vector<int> ForwardResults::inputEntries(int id) const {
  const Node& node = *graph_.nodes[position(id)];
  std::vector<int> entries;
  const auto& recomputation = lowered_.nodes[position(id)].gradient.recomputation;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto is_this = [i](const GradientSource& s) {
      return s.kind == Kind::input && s.index == static_cast<int>(i);
    };
    if (!recomputation || std::any_of(recomputation->inputs.begin(), recomputation->inputs.end(), is_this))
      entries.push_back(entryOf(node.inputs[i]));
  }
  return entries;
}

int ForwardResults::contentsOf(int entry) {
  if (isMirrored(entry)) computeAgain(maker_[position(entry)]);
  return present(entry);
}

// With all it needs, in the order of the graph; without recursion, since a graph may be deep.
void ForwardResults::computeAgain(int id) {
  std::vector<int> wanted, open{id};
  std::vector<bool> seen(graph_.nodes.size());
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    if (seen[position(next)] || is_again_[position(next)]) continue;
    seen[position(next)] = true;
    wanted.push_back(next);
    for (const int entry : inputEntries(next))
      if (isMirrored(entry)) open.push_back(maker_[position(entry)]);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const int each : wanted) emit(each);
}

int ForwardResults::copyOf(int tensor) {
  Tensor copy{.name = lowered_.program.tensors[position(tensor)].name,
              .shape = lowered_.program.tensors[position(tensor)].shape,
              .dtype = lowered_.program.tensors[position(tensor)].dtype};
  lowered_.program.tensors.push_back(std::move(copy));
  return static_cast<int>(lowered_.program.tensors.size()) - 1;
}

int ForwardResults::sourceAgain(int id, const GradientSource& source) const {
  const Node& node = *graph_.nodes[position(id)];
  if (source.kind == Kind::input) return present(entryOf(node.inputs[position(source.index)]));
  return lowered_.tensors[position(graph_.first_entry[position(id)] + source.index)];  // kept
}

void ForwardResults::emit(int id) {
  is_again_[position(id)] = true;
  const Node& node = *graph_.nodes[position(id)];
  const Lowered& made = lowered_.nodes[position(id)];
  const int first = graph_.first_entry[position(id)];
  if (made.kind == Lowered::Kind::view) {
    const int base = present(entryOf(node.inputs[0]));
    if (base == lowered_.tensors[position(entryOf(node.inputs[0]))]) return;
    again_[position(first)] = copyOf(lowered_.tensors[position(first)]);
    lowered_.program.tensors[position(again_[position(first)])].view_of = base;
    return;
  }
  Operation again = lowered_.program.operations[position(lowered_.operations[position(id)])];
  again.phase = Phase::backward;
  if (const auto& other = made.gradient.recomputation) {
    again.desc = other->desc;
    again.pass = other->pass;
    again.inputs.clear();
    for (const GradientSource& source : other->inputs) again.inputs.push_back(sourceAgain(id, source));
    again.outputs = {copyOf(lowered_.tensors[position(first)])};
    again_[position(first)] = again.outputs[0];
  } else {
    for (std::size_t i = 0; i < again.inputs.size(); ++i)
      again.inputs[i] = present(entryOf(node.inputs[position(made.inputs[i])]));
    for (int& output : again.outputs) output = copyOf(output);
    for (std::size_t i = 0; i < made.outputs.size(); ++i)
      again_[position(first + made.outputs[i])] = again.outputs[i];
    extras_again_[position(id)].assign(
        again.outputs.begin() + static_cast<std::ptrdiff_t>(made.outputs.size()), again.outputs.end());
  }
  lowered_.program.operations.push_back(std::move(again));
}

int ForwardResults::tensorOf(int id, const GradientSource& source) {
  const Node& node = *graph_.nodes[position(id)];
  const int first = graph_.first_entry[position(id)];
  const auto index = position(source.index);
  if (source.kind == Kind::extra) {
    if (isMirrored(first)) computeAgain(id);
    return is_again_[position(id)] ? extras_again_[position(id)][index]
                                   : lowered_.extras[position(id)][index];
  }
  const int entry = source.kind == Kind::input ? entryOf(node.inputs[index]) : first + source.index;
  if (source.is_read) return contentsOf(entry);
  // The layout is that which the forward kernel has seen.
  return is_again_[position(id)] ? present(entry) : lowered_.tensors[position(entry)];
}

}  // namespace pitwall::graph
