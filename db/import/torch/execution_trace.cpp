// Reads the execution trace that PyTorch's ExecutionTraceObserver writes: operators with their callers, shapes and
// types, without times.
//
// Only the order is known: numbers ascend as nodes begin. Each node counts as one microsecond, before those
// that it calls, so that times are counts of nodes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "db/import/input/json_stream.h"
#include "db/import/input/text.h"
#include "db/import/kineto/arguments.h"
#include "db/import/kineto/meanings.h"
#include "db/import/readers.h"
#include "db/import/torch/torch_start.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 21;
constexpr std::int64_t kNodeNs = 1000;
constexpr std::int64_t kBackwardScope = 1, kUserScope = 7;
constexpr std::uint32_t kNone = UINT32_MAX;

struct Node {
  std::int64_t id = 0, parent = 0, thread = 0;
  StringId name;
  OperatorId facts;
  EventKind kind = EventKind::scope;
  bool structure = false;                                   // the process and its threads
  std::uint32_t first_child = kNone, next_sibling = kNone;  // after linking
};

// What a node says, in either version of the schema.
struct NodeText {
  std::int64_t id = -1, parent = -1, thread = 0, scope = -1;
  std::string name, schema, in_shapes, in_types, out_shapes, out_types, backend;
};

class ExecutionTrace {
 public:
  ExecutionTrace(JsonStream& json, Builder& builder) : json_(json), builder_(builder) {}

  void read();
  void end();

 private:
  std::int64_t number();
  std::string text();
  void node();
  void attribute(NodeText& node);
  void values(std::string& shapes, std::string& types);
  void keep(const NodeText& text);
  void link();
  void writeFrom(std::uint32_t root);

  JsonStream& json_;
  Builder& builder_;
  std::string schema_;
  std::int64_t pid_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
  std::size_t written_ = 0;
  std::int64_t now_ns_ = 0;
};

std::int64_t ExecutionTrace::number() {
  const JsonValue value = json_.value();
  return value.type == JsonType::number ? parseInteger(value.text).value_or(0) : 0;
}

std::string ExecutionTrace::text() {
  const JsonValue value = json_.value();
  return value.type == JsonType::string ? unescape(value.text.substr(0, kLongestName)) : std::string();
}

void ExecutionTrace::read() {
  json_.members([&](std::string_view name) {
    if (name == "schema") schema_ = text();
    if (name == "pid") pid_ = number();
    if (name == "nodes") json_.elements([&] { node(); });
  });
}

void ExecutionTrace::attribute(NodeText& node) {
  std::string name, word;
  std::int64_t value = 0;
  json_.members([&](std::string_view member) {
    if (member == "name") name = text();
    if (member != "value") return;
    const JsonValue raw = json_.value();
    if (raw.type == JsonType::string) word = unescape(raw.text.substr(0, kLongestName));
    if (raw.type == JsonType::number) value = parseInteger(raw.text).value_or(0);
  });
  if (name == "tid") node.thread = value;
  if (name == "scope") node.scope = value;
  if (name == "op_schema") node.schema = word;
  if (name == "kernel_backend") node.backend = word;
}

void ExecutionTrace::values(std::string& shapes, std::string& types) {
  json_.members([&](std::string_view member) {
    if (member == "shapes") shapes = std::string(json_.value().text.substr(0, kLongestName));
    if (member == "types") types = std::string(json_.value().text.substr(0, kLongestName));
  });
}

void ExecutionTrace::node() {
  NodeText node;
  json_.members([&](std::string_view name) {
    if (name == "id") node.id = number();
    if (name == "name") node.name = text();
    if (name == "ctrl_deps" || name == "parent") node.parent = number();
    if (name == "attrs") json_.elements([&] { attribute(node); });
    if (name == "inputs" && json_.peek() == '{') values(node.in_shapes, node.in_types);
    if (name == "outputs" && json_.peek() == '{') values(node.out_shapes, node.out_types);
    // Of versions before 1.1:
    if (name == "tid") node.thread = number();
    if (name == "scope") node.scope = number();
    if (name == "op_schema") node.schema = text();
    if (name == "input_shapes") node.in_shapes = std::string(json_.value().text.substr(0, kLongestName));
    if (name == "input_types") node.in_types = std::string(json_.value().text.substr(0, kLongestName));
    if (name == "output_shapes") node.out_shapes = std::string(json_.value().text.substr(0, kLongestName));
  });
  if (!json_.ok()) return;
  if (node.id < 0 || node.name.empty())
    return builder_.tally().dropped("nodes without a number or a name", [&] { return json_.place(); });
  if (nodes_.size() >= kMostNodes)
    return builder_.tally().dropped("nodes beyond 2097152", [&] { return json_.place(); });
  ++builder_.tally().record("nodes");
  keep(node);
}

// Of ["Tensor(float)", "Scalar"]: "float".
std::string elementType(const std::string& types) {
  const std::size_t at = types.find("Tensor(");
  if (at == std::string::npos) return {};
  const std::size_t end = types.find(')', at);
  std::string type = types.substr(at + 7, end == std::string::npos ? 0 : end - at - 7);
  if (type.starts_with("c10::")) type.erase(0, 5);
  return type;
}

void ExecutionTrace::keep(const NodeText& text) {
  Node node;
  node.id = text.id;
  node.parent = text.parent;
  node.thread = text.thread;
  node.structure =
      text.name.starts_with("[pytorch|profiler|execution_trace|") || text.name.starts_with("__ROOT_");
  const bool is_operator = text.scope != kUserScope && (!text.schema.empty() || isOperatorName(text.name));
  if (is_operator && !node.structure) {
    OperatorFacts facts;
    appendClean(text.name, facts.name);
    const std::string in = shapesOf(text.in_shapes), out = shapesOf(text.out_shapes);
    facts.shapes = out.empty() ? in : in + "->" + out;
    appendClean(elementType(text.in_types.empty() ? text.out_types : text.in_types), facts.dtype);
    appendClean(text.backend, facts.backend);
    if (text.scope == kBackwardScope) facts.phase = Phase::backward;
    node.facts = builder_.names().facts(facts);
    node.kind = EventKind::operatorRun;
  }
  node.name = builder_.names().name(text.name);
  nodes_.push_back(node);
}

// In the order of the numbers; a node whose parent is not in the file is a root.
void ExecutionTrace::link() {
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  const auto same = std::unique(nodes_.begin(), nodes_.end(), [&](const Node& a, const Node& b) {
    if (a.id != b.id) return false;
    builder_.tally().dropped("nodes with the number of another", fmt::format("{}", b.id));
    return true;
  });
  nodes_.erase(same, nodes_.end());
  // From the last to the first, so that children are in ascending order.
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
    Node& node = nodes_[i];
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node.parent,
                                        [](const Node& a, std::int64_t id) { return a.id < id; });
    const bool has_parent = found != nodes_.end() && found->id == node.parent && &*found != &node;
    if (has_parent) {
      node.next_sibling = found->first_child;
      found->first_child = i;
    } else {
      roots_.push_back(i);
    }
  }
}

// Depth first, without recursion: each node begins after its caller, and ends after all that it calls.
void ExecutionTrace::writeFrom(std::uint32_t root) {
  struct Open {
    std::uint32_t node = 0, next_child = 0;
    std::int64_t start_ns = 0;
  };
  std::vector<Open> open;
  const auto enter = [&](std::uint32_t node) {
    ++written_;
    open.push_back({node, nodes_[node].first_child, now_ns_});
    if (!nodes_[node].structure) now_ns_ += kNodeNs;
  };
  enter(root);
  const ProcessRef process = builder_.tracks().process(std::to_string(pid_));
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next_child != kNone) {
      const std::uint32_t child = top.next_child;
      top.next_child = nodes_[child].next_sibling;
      enter(child);
      continue;
    }
    const Node& node = nodes_[top.node];
    if (!node.structure) {
      Event event;
      event.kind = node.kind;
      event.name = node.name;
      event.op = node.facts;
      event.start_ns = top.start_ns;
      event.dur_ns = now_ns_ - top.start_ns;
      builder_.add(builder_.tracks().thread(process, std::to_string(node.thread)), event);
    }
    open.pop_back();
  }
}

void ExecutionTrace::end() {
  link();
  for (auto root = roots_.rbegin(); root != roots_.rend(); ++root) writeFrom(*root);
  for (std::size_t i = written_; i < nodes_.size(); ++i)
    builder_.tally().dropped("nodes whose callers form a circle", "");
  builder_.tracks().nameProcess(builder_.tracks().process(std::to_string(pid_)), "PyTorch");
  ImportedInput& input = builder_.tally().input();
  input.format = "PyTorch execution trace";
  appendClean(schema_, input.version);
  input.clock = "none: the file has no times";
  builder_.meta("import.timeline", "order only");
  builder_.meta(meta::kProducer, "PyTorch ExecutionTraceObserver");
  builder_.tally().note(
      fmt::format("{}: an execution trace has no times: each operator counts as 1 us, so that "
                  "times are counts. The "
                  "profile that torch.profiler writes beside it (export_chrome_trace) has times",
                  input.path));
}

}  // namespace

bool isExecutionTrace(std::string_view start) {
  const auto has = [&](std::string_view what) { return start.find(what) != start.npos; };
  return start.starts_with('{') && has("\"schema\"") &&
         (has("chakra") || (has("\"nodes\"") && has("\"op_schema\"")));
}

Status readExecutionTrace(Window& window, const ImportOptions& options, Builder& builder) {
  JsonStream json(window, options.limits.record_bytes);
  ExecutionTrace trace(json, builder);
  trace.read();
  PITWALL_TRY(json.finish(builder.tally()));
  trace.end();
  return {};
}

}  // namespace pitwall::import
