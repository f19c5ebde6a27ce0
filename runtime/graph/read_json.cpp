// Reads -symbol.json: what MXNet 1.9.1 writes, and what older versions and Gluon's export wrote.
#include <fmt/format.h>

// Debian's version adds to a null pointer where its stack is empty, which the sanitizer would report.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <optional>
#include <utility>

#include "db/escaped.h"
#include "db/try.h"
#include "runtime/graph/make_node.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/named_operators.h"
#include "runtime/symbol.h"

namespace pitwall {
namespace {

using graph::NamedOperator;
using graph::NodePtr;
using JsonTree = rapidjson::Value;

constexpr Bytes kLargestJson = Bytes{1} << 28;
constexpr std::int64_t kMostOutputs = 1 << 20;  // of all nodes
constexpr int kStatesInFile = 900;              // since 0.9.0 every input is in the file

// Attributes for other programs, which before 0.9 stood beside the operator's without underscores.
constexpr const char* kHiddenNames[] = {"ctx_group", "force_mirroring", "lr_mult", "mirror_stage", "wd_mult"};

class GraphReader {
 public:
  GraphReader(const JsonTree& root, const std::string& shown) : root_(root), shown_(shown) {}

  Result<Symbol> read() {
    if (!root_.IsObject()) return wrong("it is no JSON object, so it is no symbol of MXNet");
    const JsonTree* nodes = PITWALL_TRY(list(root_, "nodes"));
    const JsonTree* heads = PITWALL_TRY(list(root_, "heads"));
    if (heads->Empty()) return wrong("the list heads is empty: it names the outputs");
    version_ = PITWALL_TRY(version());
    PITWALL_TRY(checkOperators(*nodes));
    for (const JsonTree& node : nodes->GetArray()) PITWALL_TRY(addNode(node));
    PITWALL_TRY(checkArguments());
    std::vector<graph::NodeOutput> outputs;
    for (const JsonTree& head : heads->GetArray()) {
      graph::NodeOutput output = PITWALL_TRY(outputOf(head, nodes_.size(), "heads"));
      outputs.push_back(std::move(output));
    }
    return Symbol(std::move(outputs));
  }

 private:
  Failure wrong(const std::string& what) const { return fail(ErrorCode::invalidInput, shown_ + ": " + what); }
  Failure wrongNode(const std::string& what) const {
    return wrong(fmt::format("node {} {}: {}", nodes_.size(), name_, what));
  }

  Result<const JsonTree*> list(const JsonTree& of, const char* name) const {
    const auto member = of.FindMember(name);
    if (member == of.MemberEnd() || !member->value.IsArray())
      return wrong(fmt::format("it has no list \"{}\", so it is no symbol of MXNet", name));
    return &member->value;
  }

  // 10901 of "attrs": {"mxnet_version": ["int", 10901]}; 0 where there is none.
  Result<int> version() const {
    const auto attrs = root_.FindMember("attrs");
    if (attrs == root_.MemberEnd()) return 0;
    if (!attrs->value.IsObject()) return wrong("\"attrs\" must be an object");
    const auto found = attrs->value.FindMember("mxnet_version");
    if (found == attrs->value.MemberEnd()) return 0;
    const JsonTree& pair = found->value;
    if (!pair.IsArray() || pair.Size() != 2 || !pair[1].IsInt())
      return wrong("mxnet_version must be [\"int\", NUMBER]");
    return pair[1].GetInt();
  }

  static std::string shownText(const JsonTree& value) {
    constexpr std::size_t kLongest = 80;
    return escaped(std::string(value.GetString(), std::min<std::size_t>(value.GetStringLength(), kLongest)));
  }

  // All operators that are missing here, each with its first node, before any node is made.
  Status checkOperators(const JsonTree& nodes) const {
    constexpr std::size_t kListed = 8;
    std::map<std::string, std::string> missing;
    for (const JsonTree& node : nodes.GetArray()) {
      if (!node.IsObject()) continue;
      const auto op = node.FindMember("op"), name = node.FindMember("name");
      if (op == node.MemberEnd() || !op->value.IsString()) continue;
      const std::string_view text(op->value.GetString(), op->value.GetStringLength());
      if (text == "null" || graph::findNamedOperator(text) != nullptr || missing.size() == kListed) continue;
      const bool named = name != node.MemberEnd() && name->value.IsString();
      missing.emplace(shownText(op->value), named ? shownText(name->value) : "without a name");
    }
    if (missing.empty()) return {};
    std::string text;
    for (const auto& [op, name] : missing)
      text += fmt::format("{}{} (node {})", text.empty() ? "" : ", ", op, name);
    return fail(ErrorCode::unsupported,
                fmt::format("{}: operators that are not supported: {}", shown_, text));
  }

  Result<std::string> textOf(const JsonTree& node, const char* member) const {
    const auto found = node.FindMember(member);
    if (found == node.MemberEnd() || !found->value.IsString())
      return wrongNode(fmt::format("\"{}\" is missing or no text", member));
    return std::string(found->value.GetString(), found->value.GetStringLength());
  }

  // Of "attrs", before 1.0 "attr", before 0.9 "param" with the operator's and "attr" with others.
  Result<Attributes> attributesOf(const JsonTree& node) const {
    Attributes attributes;
    for (const char* member : {"attrs", "attr", "param"}) {
      const auto found = node.FindMember(member);
      if (found == node.MemberEnd()) continue;
      if (!found->value.IsObject()) return wrongNode(fmt::format("\"{}\" must be an object", member));
      for (const auto& each : found->value.GetObject()) {
        if (!each.value.IsString())
          return wrongNode(fmt::format("attribute {} must be a text in quotes", shownText(each.name)));
        attributes.insert_or_assign(std::string(each.name.GetString(), each.name.GetStringLength()),
                                    std::string(each.value.GetString(), each.value.GetStringLength()));
      }
    }
    return attributes;
  }

  static void hide(const NamedOperator& op, Attributes& attributes) {
    for (auto each = attributes.begin(); each != attributes.end();) {
      const std::string name = (each++)->first;
      const bool own =
          std::ranges::any_of(op.attributes, [&](const auto& rule) { return rule.name == name; });
      const bool hidden = std::ranges::any_of(kHiddenNames, [&](const std::string& known) {
        return name == known || name.ends_with("_" + known);
      });
      if (own || !hidden) continue;
      auto moved = attributes.extract(name);
      moved.key() = "__" + name + "__";
      attributes.insert(std::move(moved));
    }
  }

  // [node, output] or [node, output, version] of one of the first `nodes` nodes.
  Result<graph::NodeOutput> outputOf(const JsonTree& entry, std::size_t nodes,
                                     const std::string& where) const {
    if (!entry.IsArray() || entry.Size() < 2 || entry.Size() > 3 || !entry[0].IsUint() || !entry[1].IsUint())
      return wrong(where + ": an input or output must be [node, output, 0]");
    const std::size_t id = entry[0].GetUint();
    if (id >= nodes) {
      return wrong(
          id < root_["nodes"].Size()
              ? fmt::format(
                    "{}: it takes node {}, which is itself or comes later, so there may be a cycle; nodes "
                    "must come after their inputs",
                    where, id)
              : fmt::format("{}: there is no node {}, the file has {}", where, id, root_["nodes"].Size()));
    }
    const NodePtr& node = nodes_[id];
    if (entry[1].GetUint() >= static_cast<unsigned>(node->outputs))
      return wrong(fmt::format("{}: {} has {} output{}, there is no output {}", where, describe(*node),
                               node->outputs, node->outputs == 1 ? "" : "s", entry[1].GetUint()));
    return graph::NodeOutput{node, static_cast<int>(entry[1].GetUint())};
  }

  Status addNode(const JsonTree& node) {
    name_ = "without a name";
    if (!node.IsObject()) return wrongNode("it must be an object");
    std::string name = PITWALL_TRY(textOf(node, "name"));
    name_ = escaped(name);
    const std::string op_name = PITWALL_TRY(textOf(node, "op"));
    Attributes attributes = PITWALL_TRY(attributesOf(node));
    for (const char* member : {"control_deps", "subgraphs"}) {
      const auto found = node.FindMember(member);
      if (found != node.MemberEnd() && !(found->value.IsArray() && found->value.Empty()))
        return fail(ErrorCode::unsupported, fmt::format("{}: node {} {}: \"{}\" are not supported", shown_,
                                                        nodes_.size(), name_, member));
    }
    const JsonTree* inputs = PITWALL_TRY(inputsOf(node));
    if (op_name == "null") {
      if (!inputs->Empty()) return wrongNode("it is a variable, so it has no inputs");
      return add(graph::makeVariable(std::move(name), std::move(attributes)));
    }
    const NamedOperator* op = graph::findNamedOperator(op_name);
    if (op == nullptr) return wrongNode("its operator is not supported");  // more than are listed
    hide(*op, attributes);
    std::vector<graph::NodeOutput> outputs;
    for (const JsonTree& input : inputs->GetArray()) {
      graph::NodeOutput output =
          PITWALL_TRY(outputOf(input, nodes_.size(), fmt::format("node {} {}", nodes_.size(), name_)));
      outputs.push_back(std::move(output));
    }
    const std::size_t given = outputs.size();
    Result<NodePtr> made = graph::makeNode(*op, std::move(name), std::move(outputs), std::move(attributes));
    if (!made.has_value()) return wrong(fmt::format("node {} {}", nodes_.size(), made.error().message));
    if (given < (*made)->inputs.size() && version_ >= kStatesInFile)
      return wrongNode(fmt::format("{} of its {} inputs are missing", (*made)->inputs.size() - given,
                                   (*made)->inputs.size()));
    return add(std::move(*made));
  }

  Result<const JsonTree*> inputsOf(const JsonTree& node) const {
    const auto found = node.FindMember("inputs");
    if (found == node.MemberEnd() || !found->value.IsArray())
      return wrongNode("\"inputs\" is missing or no list");
    return &found->value;
  }

  Status add(NodePtr node) {
    outputs_ += node->outputs;
    if (outputs_ > kMostOutputs)
      return wrongNode(fmt::format("the nodes have more than {} outputs", kMostOutputs));
    nodes_.push_back(std::move(node));
    return {};
  }

  // "arg_nodes" repeats which nodes are variables.
  Status checkArguments() const {
    const auto found = root_.FindMember("arg_nodes");
    if (found == root_.MemberEnd()) return {};
    if (!found->value.IsArray()) return wrong("\"arg_nodes\" must be a list");
    for (const JsonTree& id : found->value.GetArray()) {
      if (!id.IsUint() || id.GetUint() >= nodes_.size() || !nodes_[id.GetUint()]->isVariable())
        return wrong("\"arg_nodes\" must be the numbers of the variables among the nodes");
    }
    return {};
  }

  const JsonTree& root_;
  const std::string& shown_;
  int version_ = 0;
  std::vector<NodePtr> nodes_;
  std::int64_t outputs_ = 0;
  std::string name_;  // of the node that is read, for messages
};

}  // namespace

Result<Symbol> Symbol::fromJson(std::string_view text, const std::string& shown_name) {
  rapidjson::Document document;
  // Without recursion, so that nesting of any depth is no danger.
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: at byte {}: it is no JSON: {}", shown_name, document.GetErrorOffset(),
                            rapidjson::GetParseError_En(document.GetParseError())));
  return GraphReader(document, shown_name).read();
}

Result<Symbol> Symbol::load(const std::string& path) {
  graph::ModelInput input = PITWALL_TRY(graph::ModelInput::open(path));
  if (input.left() > kLargestJson)
    return input.wrong(
        fmt::format("{} bytes are too large for a symbol: at most {}", input.left(), kLargestJson));
  std::string text(static_cast<std::size_t>(input.left()), '\0');
  PITWALL_TRY(input.read(std::as_writable_bytes(std::span(text))));
  return fromJson(text, path);
}

}  // namespace pitwall
