// Writes -symbol.json as MXNet 1.9.1 does, to the byte.
#include <fmt/format.h>

#include <iterator>

#include "db/json_string.h"
#include "db/try.h"
#include "runtime/file/new_file.h"
#include "runtime/graph/named_operators.h"
#include "runtime/graph/node.h"

namespace pitwall {
namespace {

constexpr int kWrittenVersion = 10901;
constexpr std::size_t kLongestLine = 10;  // elements of a list on one line

// The members of a list or an object; `indent` is that of its first line.
std::string bracketed(char open, char close, const std::vector<std::string>& members, bool lines,
                      int indent) {
  const std::string between = lines ? "\n" + std::string(static_cast<std::size_t>(indent) + 2, ' ') : "";
  std::string text(1, open);
  for (std::size_t i = 0; i < members.size(); ++i) text += (i == 0 ? "" : ", ") + between + members[i];
  if (lines && !members.empty()) text += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
  return text + close;
}

std::string listText(const std::vector<std::string>& members, int indent) {
  return bracketed('[', ']', members, members.size() > kLongestLine, indent);
}

std::string numbersText(const std::vector<int>& numbers, int indent) {
  std::vector<std::string> members;
  for (const int number : numbers) members.push_back(std::to_string(number));
  return listText(members, indent);
}

// The third number is how often operators have updated the variable.
std::string outputText(const graph::IndexedGraph& graph, const graph::NodeOutput& output, int version = 0) {
  return fmt::format("[{}, {}, {}]", graph.idOf(output.node.get()), output.index, version);
}

std::string inputsText(const graph::IndexedGraph& graph, const graph::Node& node, int indent) {
  std::vector<std::string> members;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    members.push_back(outputText(graph, node.inputs[i], i < node.arguments() ? 0 : 1));
  return listText(members, indent);
}

std::string outputsText(const graph::IndexedGraph& graph, const std::vector<graph::NodeOutput>& outputs,
                        int indent) {
  std::vector<std::string> members;
  for (const graph::NodeOutput& output : outputs) members.push_back(outputText(graph, output));
  return listText(members, indent);
}

std::string nodeText(const graph::IndexedGraph& graph, const graph::Node& node) {
  constexpr int kIndent = 4;
  std::vector<std::string> members = {"\"op\": " + jsonString(node.isVariable() ? "null" : node.op->name),
                                      "\"name\": " + jsonString(node.name)};
  std::vector<std::string> attributes;
  for (const auto& [name, value] : node.attributes)
    attributes.push_back(jsonString(name) + ": " + jsonString(value));
  if (!attributes.empty())
    members.push_back("\"attrs\": " + bracketed('{', '}', attributes, attributes.size() > 1, kIndent + 2));
  members.push_back("\"inputs\": " + inputsText(graph, node, kIndent + 2));
  return bracketed('{', '}', members, true, kIndent);
}

}  // namespace

std::string Symbol::toJson() const {
  const graph::IndexedGraph graph(outputs_);
  std::vector<std::string> nodes;
  for (const graph::NodePtr& node : graph.nodes) nodes.push_back(nodeText(graph, *node));
  return bracketed('{', '}',
                   {"\"nodes\": " + bracketed('[', ']', nodes, true, 2),
                    "\"arg_nodes\": " + numbersText(graph.variables, 2),
                    "\"node_row_ptr\": " + numbersText(graph.first_entry, 2),
                    "\"heads\": " + outputsText(graph, outputs_, 2),
                    fmt::format("\"attrs\": {{\"mxnet_version\": [\"int\", {}]}}", kWrittenVersion)},
                   true, 0);
}

Status Symbol::save(const std::string& path) const {
  NewFile output = PITWALL_TRY(NewFile::create(path));
  PITWALL_TRY(output.write(toJson()));
  return output.finish();
}

}  // namespace pitwall
