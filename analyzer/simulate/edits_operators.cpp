// Changes of how long operators, kernels and calls take.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

// Nodes whose name holds the pattern. Each name is matched once.
Result<std::vector<bool>> matching(const Program& program, const Edit& edit) {
  std::vector<bool> nodes(program.graph.nodes.size());
  std::unordered_map<std::uint64_t, bool> known;
  bool any = false;
  try {
    const std::regex pattern(edit.pattern, std::regex::ECMAScript | std::regex::optimize);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = program.graph.nodes[i];
      const auto key = static_cast<std::uint64_t>(node.op.value) << 32 | node.name.value;
      const auto [place, is_new] = known.try_emplace(key, false);
      if (is_new) place->second = std::regex_search(program.titleOf(node.op, node.name), pattern);
      nodes[i] = place->second;
      any |= nodes[i];
    }
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::invalidInput, fmt::format("'{}': '{}' is not a regular expression ({})", edit.text,
                                                     edit.pattern, error.what()));
  }
  if (any) return nodes;
  return fail(
      ErrorCode::invalidInput,
      fmt::format(
          "'{}': no operator, kernel or call of the replayed iterations has a name with '{}'; 'pitwall "
          "simulate TRACE' without changes lists the longest",
          edit.text, edit.pattern));
}

// The least time that the machine's peak rates allow; nothing where its work is not recorded.
std::optional<TimeNs> atRoofline(const Program& program, const analysis::Node& node) {
  if (!node.op || node.op.value > program.operators.size()) return std::nullopt;
  const auto& facts = program.operators[node.op.value - 1];
  const auto& roofline = program.machine.roofline;
  double seconds = 0;
  if (roofline.flop_per_second > 0) seconds = static_cast<double>(facts.flop) / roofline.flop_per_second;
  if (roofline.bytes_per_second > 0) {
    const auto bytes = static_cast<double>(facts.bytes_read + facts.bytes_written);
    seconds = std::max(seconds, bytes / roofline.bytes_per_second);
  }
  return seconds > 0 ? std::optional(static_cast<TimeNs>(seconds * 1e9)) : std::nullopt;
}

}  // namespace

Status applyOperators(const Program& program, const Edit& edit, Case, Changed& out) {
  const auto matches = PITWALL_TRY(matching(program, edit));
  const auto& roofline = program.machine.roofline;
  if (edit.roofline && roofline.flop_per_second <= 0 && roofline.bytes_per_second <= 0)
    return nothingFor(edit, "peak rates of its machine: run 'pitwall env --calibrate', then record again");
  bool any_known = false;
  for (std::size_t i = 0; i < program.tasks.all.size(); ++i) {
    const auto& task = program.tasks.all[i];
    if (task.node == Task::kNone || !matches[task.node]) continue;
    auto& own = out.lengths.own_ns[i];
    if (!edit.roofline) {
      own = times(own, edit.value);
    } else if (const auto least = atRoofline(program, program.graph.nodes[task.node])) {
      any_known = true;
      own = std::min(own, *least);
    }
  }
  if (edit.roofline && !any_known)
    return nothingFor(edit, "FLOP or bytes of these operators: only Pitwall's runtime records them");
  return {};
}

}  // namespace pitwall::simulate
