// Convolutions and dense layers compute on 8-bit numbers whatever surrounds them. What is between them does if that saves going to real
// numbers and back: its data is made by such an operator, and all that reads its result reads 8-bit numbers.
#include <algorithm>
#include <string_view>

#include "runtime/graph/attribute_rules.h"
#include "runtime/graph/named_operators.h"
#include "runtime/graph/quantization/quantization.h"

namespace pitwall::graph {

namespace {

class EdgeFinder {
 public:
  EdgeFinder(const IndexedGraph& graph, const std::set<std::string>& excluded)
      : graph_(graph), excluded_(excluded), readers_(static_cast<std::size_t>(graph.entries())) {
    for (int id = 0; id < size(); ++id)
      for (int i = 0; i < static_cast<int>(node(id).inputs.size()); ++i)
        readers_[at(entryOf(id, i))].push_back({id, i});
    for (const int head : graph.heads) readers_[at(head)].push_back({-1, 0});
    joined_.assign(at(size()), -1);
    for (int id = 0; id < size(); ++id) join(id);
    takes_part_.assign(at(size()), false);
    for (int id = 0; id < size(); ++id) takes_part_[at(id)] = mayTakePart(id);
  }

  std::set<Edge> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int id = 0; id < size(); ++id) {
        if (!takes_part_[at(id)] || isAnchor(id) || staysIn(id)) continue;
        takes_part_[at(id)] = false;
        changed = true;
      }
    }
    std::set<Edge> edges;
    for (int id = 0; id < size(); ++id)
      for (int i = 0; i < static_cast<int>(node(id).inputs.size()); ++i)
        if (isQuantized({id, i}) && !comesQuantized({id, i})) edges.insert({id, i});
    return edges;
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  int size() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int id) const { return *graph_.nodes[at(id)]; }
  int entryOf(int id, int input) const { return graph_.entryOf(node(id).inputs[at(input)]); }
  int makerOf(Edge edge) const { return graph_.idOf(node(edge.node).inputs[at(edge.input)].node.get()); }
  std::string_view op(int id) const {
    return node(id).isVariable() ? std::string_view() : std::string_view(node(id).op->name);
  }
  bool isAnchor(int id) const { return op(id) == "Convolution" || op(id) == "FullyConnected"; }
  bool passesOn(int id) const {
    return op(id) == "Flatten" || op(id) == "_copy" || op(id) == "Dropout" || op(id) == "Reshape";
  }
  bool isRead(int id, std::size_t times) const {
    return readers_[at(graph_.first_entry[at(id)])].size() == times;
  }

  // The convolution that another operator becomes a part of, as fuse() does it.
  void join(int id) {
    if (op(id) == "BatchNorm") {
      const int maker = makerOf({id, 0});
      if (op(maker) == "Convolution" && isRead(maker, 1)) joined_[at(id)] = maker;
    } else if (op(id) == "Activation" || op(id) == "relu" || op(id) == "clip") {
      const int maker = makerOf({id, 0});
      const bool continues = isAnchor(maker) || op(maker) == "BatchNorm" || joined_[at(maker)] >= 0;
      if (continues && isRead(maker, 1)) joined_[at(id)] = maker;
    } else if (op(id) == "elemwise_add") {
      for (const int side : {0, 1}) {
        const int maker = makerOf({id, side});
        const bool convolves =
            op(maker) == "Convolution" || (op(maker) == "BatchNorm" && joined_[at(maker)] >= 0);
        if (convolves && isRead(maker, 1)) joined_[at(id)] = std::max(joined_[at(id)], maker);
      }
    }
  }

  // The node whose kernel computes this one too.
  int rootOf(int id) const {
    while (joined_[at(id)] >= 0) id = joined_[at(id)];
    return id;
  }

  bool mayTakePart(int id) const {
    if (excluded_.contains(node(id).name)) return false;
    if (isAnchor(id) || passesOn(id)) return true;
    if (joined_[at(id)] >= 0) return false;  // as its root
    if (op(id) == "Pooling") {
      const AttributeReader read(node(id).op->attributes, node(id).attributes);
      return read.choice("pool_type") == "max" || read.choice("pool_type") == "avg";
    }
    return op(id) == "BatchNorm" || op(id) == "elemwise_add" || op(id) == "elemwise_mul";
  }

  bool makesNumbers(Edge edge) const { return takes_part_[at(rootOf(makerOf(edge)))]; }

  bool staysIn(int id) const {
    const bool two = op(id) == "elemwise_add" || op(id) == "elemwise_mul";
    if (!makesNumbers({id, 0}) && !(two && makesNumbers({id, 1}))) return false;
    if (op(id) == "elemwise_mul") return true;
    return std::ranges::all_of(readers_[at(graph_.first_entry[at(endOf(id))])],
                               [this](Edge reader) { return isQuantized(reader); });
  }

  // The last node that is joined to this one.
  int endOf(int id) const {
    for (;;) {
      const auto& readers = readers_[at(graph_.first_entry[at(id)])];
      if (readers.size() != 1 || readers[0].node < 0 || joined_[at(readers[0].node)] != id) return id;
      id = readers[0].node;
    }
  }

  bool isQuantized(Edge edge) const {
    if (edge.node < 0) return false;
    const int joined = joined_[at(edge.node)];
    if (joined >= 0) {
      // The other side of a sum that is joined to a convolution.
      return op(edge.node) == "elemwise_add" && makerOf(edge) != joined && takes_part_[at(rootOf(joined))];
    }
    if (!takes_part_[at(edge.node)]) return false;
    const bool two = op(edge.node) == "elemwise_add" || op(edge.node) == "elemwise_mul";
    return edge.input == 0 || two;
  }

  // What only passes numbers on has been given 8-bit ones.
  bool comesQuantized(Edge edge) const {
    const int maker = makerOf(edge);
    return passesOn(maker) && takes_part_[at(maker)];
  }

  const IndexedGraph& graph_;
  const std::set<std::string>& excluded_;
  std::vector<std::vector<Edge>> readers_;  // by entry; the caller's node is -1
  std::vector<int> joined_;                 // by node: the one whose kernel computes it too, -1 = its own
  std::vector<bool> takes_part_;            // by node
};

}  // namespace

std::set<Edge> quantizedEdges(const IndexedGraph& graph, const std::set<std::string>& excluded) {
  return EdgeFinder(graph, excluded).run();
}

}  // namespace pitwall::graph
