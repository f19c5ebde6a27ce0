#include "runtime/graph/infer_types.h"

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <set>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/short_float.h"

namespace pitwall::graph {
namespace {

// A variable's attribute __dtype__: MXNet's number of the type. -1 is unknown.
Result<std::optional<DType>> typeAttribute(const Node& variable) {
  static const std::map<std::string_view, DType> kTypes = {{"0", DType::float32}, {"2", DType::float16},
                                                           {"3", DType::uint8},   {"4", DType::int32},
                                                           {"5", DType::int8},    {"12", DType::bfloat16}};
  const auto found = variable.attributes.find("__dtype__");
  if (found == variable.attributes.end() || found->second == "-1" || found->second == "None")
    return std::optional<DType>();
  const auto type = kTypes.find(found->second);
  if (type == kTypes.end())
    return fail(
        ErrorCode::unsupported,
        fmt::format(
            "{}: attribute __dtype__=\"{}\": arrays are float32 (0), float16 (2), uint8 (3), int32 (4), "
            "int8 (5) or bfloat16 (12); give the type of the array",
            describe(variable), found->second));
  return std::optional<DType>(type->second);
}

class TypeInference {
 public:
  explicit TypeInference(const IndexedGraph& graph)
      : graph_(graph),
        types_(static_cast<std::size_t>(graph.entries())),
        users_(graph.nodes.size()),
        waits_(graph.nodes.size()) {
    for (std::size_t id = 0; id < graph.nodes.size(); ++id)
      for (const NodeOutput& input : graph.nodes[id]->inputs) users_[idOf(input)].push_back(id);
  }

  Status give(const std::map<std::string, DType>& known) {
    std::set<std::string_view> names;
    for (const int id : graph_.variables) {
      const Node& node = *graph_.nodes[position(id)];
      names.insert(node.name);
      const auto given = known.find(node.name);
      auto& type = types_[position(graph_.first_entry[position(id)])];
      type = given != known.end() ? std::optional(given->second) : PITWALL_TRY(typeAttribute(node));
    }
    for (const auto& [name, type] : known)
      if (!names.contains(name))
        return fail(ErrorCode::notFound,
                    fmt::format("a type is given for {}, but there is no such argument", name));
    return {};
  }

  // What follows from what is known; each type is found once, so it ends.
  Status run() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) enqueue(id);
    return runQueue();
  }

  // What does not follow from anything is float32.
  Result<std::vector<DType>> complete() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      for (int entry = graph_.first_entry[id]; entry < graph_.first_entry[id + 1]; ++entry)
        if (!types_[position(entry)]) {
          set(position(entry), DType::float32, id);
          PITWALL_TRY(runQueue());
        }
    std::vector<DType> all;
    for (const auto& type : types_) all.push_back(*type);
    return all;
  }

 private:
  static std::size_t position(int number) { return static_cast<std::size_t>(number); }
  std::size_t idOf(const NodeOutput& output) const { return position(graph_.idOf(output.node.get())); }

  // An input or output of a node.
  struct Slot {
    TypeSlot rule;
    std::size_t entry = 0, producer = 0;
    std::string name;
  };

  Result<std::vector<Slot>> slotsOf(std::size_t id) const {
    const Node& node = *graph_.nodes[id];
    NodeTypes rules{std::vector<TypeSlot>(node.inputs.size()), std::vector<TypeSlot>(position(node.outputs))};
    if (node.op->types != nullptr) {
      const Status known = node.op->types(node.attributes, rules);
      if (!known.has_value())
        return fail(known.error().code, fmt::format("{}: {}", describe(node), known.error().message));
    }
    std::vector<std::string> names = node.op->inputs(node.attributes);
    for (std::string& state : node.op->states(node.attributes)) names.push_back(std::move(state));
    const std::vector<std::string> outputs = node.op->outputs(node.attributes);
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      slots.push_back(
          {rules.inputs[i], position(graph_.entryOf(node.inputs[i])), idOf(node.inputs[i]), names[i]});
    for (std::size_t i = 0; i < rules.outputs.size(); ++i)
      slots.push_back({rules.outputs[i], position(graph_.first_entry[id]) + i, id, outputs[i]});
    return slots;
  }

  Status runQueue() {
    while (!queue_.empty()) {
      const std::size_t id = queue_.front();
      queue_.pop_front();
      waits_[id] = false;
      PITWALL_TRY(infer(id));
    }
    return {};
  }

  Status infer(std::size_t id) {
    const std::vector<Slot> slots = PITWALL_TRY(slotsOf(id));
    const Slot* common = nullptr;  // the first with the node's common type
    for (const Slot& slot : slots)
      if (common == nullptr && slot.rule.kind == TypeSlot::Kind::common && types_[slot.entry]) common = &slot;
    for (const Slot& slot : slots) {
      std::optional<DType> type;
      std::string reason = "this operator has it so";
      if (slot.rule.kind == TypeSlot::Kind::fixed) type = slot.rule.type;
      if (common != nullptr &&
          (slot.rule.kind == TypeSlot::Kind::common || slot.rule.kind == TypeSlot::Kind::wide)) {
        const DType of_common = *types_[common->entry];
        type = slot.rule.kind == TypeSlot::Kind::wide && is16Bits(of_common) ? DType::float32 : of_common;
        reason = fmt::format("{} is {}", common->name, toString(of_common));
      }
      if (!type) continue;
      if (types_[slot.entry] && types_[slot.entry] != type)
        return wrong(fmt::format(
            "{}: {} is {}, must be {}, since {}; give both arrays fitting types, or add a Cast",
            describe(*graph_.nodes[id]), slot.name, toString(*types_[slot.entry]), toString(*type), reason));
      set(slot.entry, *type, slot.producer);
    }
    return {};
  }

  void set(std::size_t entry, DType type, std::size_t producer) {
    if (types_[entry]) return;
    types_[entry] = type;
    enqueue(producer);
    for (const std::size_t user : users_[producer]) enqueue(user);
  }

  void enqueue(std::size_t id) {
    if (waits_[id] || graph_.nodes[id]->isVariable()) return;
    waits_[id] = true;
    queue_.push_back(id);
  }

  const IndexedGraph& graph_;
  std::vector<std::optional<DType>> types_;      // by entry
  std::vector<std::vector<std::size_t>> users_;  // of each node's outputs
  std::vector<bool> waits_;                      // in the queue
  std::deque<std::size_t> queue_;
};

}  // namespace

Result<std::vector<DType>> inferEntryTypes(const IndexedGraph& graph,
                                           const std::map<std::string, DType>& known) {
  TypeInference inference(graph);
  PITWALL_TRY(inference.give(known));
  PITWALL_TRY(inference.run());
  return inference.complete();
}

}  // namespace pitwall::graph
