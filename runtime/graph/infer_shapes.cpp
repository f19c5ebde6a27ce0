#include "runtime/graph/infer_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "db/try.h"
#include "runtime/graph/named/parts.h"

namespace pitwall::graph {
namespace {

using Known = std::map<std::string, Shape>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A variable's attribute __shape__, as Gluon writes it: unknown extents are 0 or -1, () is no shape.
Result<std::optional<Shape>> shapeAttribute(const Node& variable) {
  const auto found = variable.attributes.find("__shape__");
  if (found == variable.attributes.end() || found->second == "None") return std::optional<Shape>();
  const auto extents = parseTuple(found->second);
  const auto isExtent = [](std::int64_t extent) { return extent >= -1 && extent <= kMostElements; };
  if (!extents || extents->size() > Shape::kMaxRank || !std::ranges::all_of(*extents, isExtent))
    return wrong(fmt::format("{}: attribute __shape__=\"{}\" must be up to {} extents as in (3, 3)",
                             describe(variable), found->second, Shape::kMaxRank));
  if (extents->empty()) return std::optional<Shape>();
  Shape shape;
  for (const std::int64_t extent : *extents) shape.append(std::max<std::int64_t>(extent, 0));
  return std::optional<Shape>(shape);
}

class Inference {
 public:
  explicit Inference(const IndexedGraph& graph)
      : graph_(graph), entries_(at(graph.entries())), users_(graph.nodes.size()), waits_(graph.nodes.size()) {
    for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
      for (const NodeOutput& input : graph.nodes[id]->inputs)
        users_[at(graph.idOf(input.node.get()))].push_back(static_cast<int>(id));
    }
  }

  Status give(const Known& known) {
    std::set<std::string_view> seen;
    std::size_t used = 0;
    for (const int id : graph_.variables) {
      const Node& node = *graph_.nodes[at(id)];
      if (!seen.insert(node.name).second)
        return wrong(fmt::format("two variables have the name {}: give each its own name", node.name));
      const auto given = known.find(node.name);
      auto& shape = entries_[at(graph_.first_entry[at(id)])];
      if (given == known.end()) {
        shape = PITWALL_TRY(shapeAttribute(node));
        continue;
      }
      ++used;
      PITWALL_TRY(checkGiven(node, given->second));
      shape = given->second;
    }
    if (used == known.size()) return {};
    for (const auto& [name, shape] : known) {
      if (!seen.contains(name))
        return fail(ErrorCode::notFound,
                    fmt::format("a shape is given for {}, but there is no such argument", name));
    }
    return {};
  }

  // Until nothing follows any more: each extent is found once, so it ends.
  Status run() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) enqueue(static_cast<int>(id));
    while (!queue_.empty()) {
      const int id = queue_.front();
      queue_.pop_front();
      waits_[at(id)] = false;
      PITWALL_TRY(infer(id));
    }
    return {};
  }

  Result<std::vector<Shape>> complete() const {
    std::string unknown;
    for (const int id : graph_.variables) {
      const auto& shape = entries_[at(graph_.first_entry[at(id)])];
      if (!isKnown(shape)) unknown += (unknown.empty() ? "" : ", ") + graph_.nodes[at(id)]->name;
    }
    if (!unknown.empty())
      return wrong(fmt::format("the shapes of these arguments do not follow from those given: {}; give them",
                               unknown));
    std::vector<Shape> shapes;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      for (int entry = graph_.first_entry[id]; entry < graph_.first_entry[id + 1]; ++entry) {
        const Node& node = *graph_.nodes[id];
        const auto& shape = entries_[at(entry)];
        if (!isKnown(shape))
          return wrong(
              fmt::format("{}: the shape of its output does not follow from its inputs", describe(node)));
        const std::int64_t elements = product(*shape, 0, shape->rank());
        if (elements == 0 || elements > kMostElements)
          return wrong(fmt::format("{}: an array of {} has more than 2^40 elements", describe(node),
                                   shapeText(*shape)));
        shapes.push_back(*shape);
      }
    }
    return shapes;
  }

 private:
  static Status checkGiven(const Node& node, const Shape& shape) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0 || shape[i] > kMostElements)
        return wrong(fmt::format("{}: an extent of {} is given, must be 1 to 2^40, or 0 where it is unknown",
                                 describe(node), shape[i]));
    }
    return {};
  }

  void enqueue(int id) {
    if (waits_[at(id)] || graph_.nodes[at(id)]->isVariable()) return;
    waits_[at(id)] = true;
    queue_.push_back(id);
  }

  Status infer(int id) {
    const Node& node = *graph_.nodes[at(id)];
    NodeShapes shapes;
    for (const NodeOutput& input : node.inputs) shapes.inputs.push_back(entries_[at(graph_.entryOf(input))]);
    const int first = graph_.first_entry[at(id)];
    for (int i = 0; i < node.outputs; ++i) shapes.outputs.push_back(entries_[at(first + i)]);
    PITWALL_TRY(inferNode(node, shapes));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      // One array may be several inputs, so each adds what it knows.
      if (shapes.inputs[i])
        PITWALL_TRY(set(graph_.entryOf(node.inputs[i]), *shapes.inputs[i], node.inputs[i].node, id));
    }
    for (int i = 0; i < node.outputs; ++i) {
      if (shapes.outputs[at(i)])
        PITWALL_TRY(set(first + i, *shapes.outputs[at(i)], graph_.nodes[at(id)], id));
    }
    return {};
  }

  Status set(int entry, const Shape& shape, const NodePtr& producer, int by) {
    auto& known = entries_[at(entry)];
    const std::optional<Shape> before = known;
    if (before == shape) return {};
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] > kMostElements)
        return wrong(fmt::format("{}: an array of {} has more than 2^40 elements", describe(*producer),
                                 shapeText(shape)));
    }
    Status fits = assign(known, shape, "output of " + describe(*producer));
    if (!fits.has_value()) return wrong(describe(*graph_.nodes[at(by)]) + ": " + fits.error().message);
    if (known == before) return {};
    const int id = graph_.idOf(producer.get());
    enqueue(id);
    for (const int user : users_[at(id)]) enqueue(user);
    return {};
  }

  const IndexedGraph& graph_;
  std::vector<std::optional<Shape>> entries_;
  std::vector<std::vector<int>> users_;  // of each node's outputs
  std::vector<bool> waits_;              // in the queue
  std::deque<int> queue_;
};

}  // namespace

Result<std::vector<Shape>> inferEntries(const IndexedGraph& graph, const Known& known) {
  Inference inference(graph);
  PITWALL_TRY(inference.give(known));
  PITWALL_TRY(inference.run());
  return inference.complete();
}

NodeShapes shapesOf(const IndexedGraph& graph, const std::vector<Shape>& entries, int id) {
  const Node& node = *graph.nodes[at(id)];
  NodeShapes shapes;
  for (const NodeOutput& input : node.inputs) shapes.inputs.push_back(entries[at(graph.entryOf(input))]);
  for (int i = 0; i < node.outputs; ++i) shapes.outputs.push_back(entries[at(graph.first_entry[at(id)] + i)]);
  return shapes;
}

}  // namespace pitwall::graph
