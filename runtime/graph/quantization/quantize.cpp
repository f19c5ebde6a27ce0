#include <fmt/format.h>

#include <cstdio>

#include "db/try.h"
#include "runtime/graph/make_node.h"
#include "runtime/graph/quantization/quantization.h"

namespace pitwall {

namespace {

using graph::Edge;
using graph::IndexedGraph;
using graph::Node;
using graph::NodeOutput;

// The graph again, with two nodes more where numbers become 8-bit ones.
class QuantizedGraph {
 public:
  QuantizedGraph(const IndexedGraph& graph, const std::set<Edge>& edges,
                 const std::map<int, NumberRange>& ranges, const std::string& type)
      : graph_(graph), edges_(edges), ranges_(ranges), type_(type) {}

  Result<Symbol> make(std::span<const NodeOutput> heads) {
    for (int id = 0; id < static_cast<int>(graph_.nodes.size()); ++id) {
      const graph::NodePtr& old = graph_.nodes[static_cast<std::size_t>(id)];
      if (old->isVariable()) {
        made_.push_back(old);
        continue;
      }
      std::vector<NodeOutput> inputs;
      for (std::size_t i = 0; i < old->inputs.size(); ++i) {
        const NodeOutput& from = old->inputs[i];
        NodeOutput input = sameAs(from);
        if (edges_.contains({id, static_cast<int>(i)})) input = PITWALL_TRY(quantized(from));
        inputs.push_back(std::move(input));
      }
      made_.push_back(PITWALL_TRY(graph::makeNode(*old->op, old->name, std::move(inputs), old->attributes)));
    }
    std::vector<NodeOutput> outputs;
    for (const NodeOutput& head : heads) outputs.push_back(sameAs(head));
    return Symbol(std::move(outputs));
  }

 private:
  NodeOutput sameAs(const NodeOutput& old) const {
    return {made_[static_cast<std::size_t>(graph_.idOf(old.node.get()))], old.index};
  }

  // The real numbers that the 8-bit ones stand for. What several nodes read is quantized once.
  Result<NodeOutput> quantized(const NodeOutput& old) {
    NodeOutput& known = quantized_[graph_.entryOf(old)];
    if (known.node != nullptr) return known;
    Attributes attributes{{"out_type", type_}};
    if (const auto range = ranges_.find(graph_.entryOf(old)); range != ranges_.end()) {
      attributes["min_calib_range"] = fmt::format("{}", range->second.minimum);
      attributes["max_calib_range"] = fmt::format("{}", range->second.maximum);
    } else if (type_ == "auto") {
      attributes["out_type"] = "int8";
    }
    const std::string name = old.node->name + (old.index > 0 ? std::to_string(old.index) : "");
    const auto make = [](const char* op, const std::string& its_name, std::vector<NodeOutput> inputs,
                         Attributes its_attributes) {
      return graph::makeNode(*graph::findNamedOperator(op), its_name, std::move(inputs),
                             std::move(its_attributes));
    };
    const auto to = PITWALL_TRY(make("_contrib_quantize_v2", name + "_quantize", {sameAs(old)}, attributes));
    const auto back =
        PITWALL_TRY(make("_contrib_dequantize", name + "_dequantize", {{to, 0}, {to, 1}, {to, 2}}, {}));
    return known = {back, 0};
  }

  const IndexedGraph& graph_;
  const std::set<Edge>& edges_;
  const std::map<int, NumberRange>& ranges_;
  const std::string& type_;
  std::vector<graph::NodePtr> made_;  // by id
  std::map<int, NodeOutput> quantized_;
};

void print(const IndexedGraph& graph, const std::set<Edge>& edges, const std::map<int, NumberRange>& ranges) {
  std::string text;
  for (const Edge& edge : edges) {
    const Node& reader = *graph.nodes[static_cast<std::size_t>(edge.node)];
    const NodeOutput& from = reader.inputs[static_cast<std::size_t>(edge.input)];
    const auto range = ranges.find(graph.entryOf(from));
    text += fmt::format("quantize: {} for {}, {}\n", graph::outputName(from), graph::describe(reader),
                        range == ranges.end()
                            ? "its range found in each pass"
                            : fmt::format("{} to {}", range->second.minimum, range->second.maximum));
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Result<Symbol> quantize(Session& session, const Symbol& symbol, const std::map<std::string, NDArray>& arrays,
                        const QuantizeOptions& options) {
  const IndexedGraph graph(symbol.outputs());
  if (options.type != "auto" && options.type != "int8" && options.type != "uint8")
    return fail(ErrorCode::invalidInput,
                fmt::format("quantize: the type is {}; give auto, int8 or uint8", options.type));
  const std::set<std::string> excluded(options.excluded.begin(), options.excluded.end());
  std::set<std::string> unknown = excluded;
  for (const graph::NodePtr& node : graph.nodes) unknown.erase(node->name);
  if (!unknown.empty())
    return fail(ErrorCode::invalidInput,
                fmt::format("quantize: the excluded {} is no node of the network", *unknown.begin()));
  const std::set<Edge> edges = graph::quantizedEdges(graph, excluded);
  std::set<int> entries;
  for (const Edge& edge : edges) {
    const Node& reader = *graph.nodes[static_cast<std::size_t>(edge.node)];
    entries.insert(graph.entryOf(reader.inputs[static_cast<std::size_t>(edge.input)]));
  }
  std::map<int, NumberRange> ranges;
  if (options.calibration != Calibration::none && !entries.empty())
    ranges = PITWALL_TRY(graph::calibrate(session, graph, arrays, {entries.begin(), entries.end()}, options));
  if (session.settings().boolean("MXNET_QUANTIZATION_VERBOSE")) print(graph, edges, ranges);
  return QuantizedGraph(graph, edges, ranges, options.type).make(symbol.outputs());
}

}  // namespace pitwall
