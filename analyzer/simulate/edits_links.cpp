// Changes of links: copies and collectives take a latency and a time for their bytes.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

using analysis::Node;

struct Transfer {
  double bytes = 0, ns = 0;
};

// The part of each transfer's time that does not depend on its bytes, in ns: a straight line through the transfers of one
// name. Nothing where they all have about one size.
std::optional<double> latencyOf(const std::vector<Transfer>& transfers) {
  constexpr double kLeastRange = 4;  // of the largest to the smallest size
  double least = HUGE_VAL, most = 0, bytes = 0, ns = 0;
  for (const auto& transfer : transfers) {
    least = std::min(least, transfer.bytes);
    most = std::max(most, transfer.bytes);
    bytes += transfer.bytes;
    ns += transfer.ns;
  }
  if (transfers.size() < 3 || most <= 0 || most < kLeastRange * least) return std::nullopt;
  const auto count = static_cast<double>(transfers.size());
  const double mean_bytes = bytes / count, mean_ns = ns / count;
  double along = 0, square = 0;
  for (const auto& transfer : transfers) {
    along += (transfer.bytes - mean_bytes) * (transfer.ns - mean_ns);
    square += (transfer.bytes - mean_bytes) * (transfer.bytes - mean_bytes);
  }
  return std::max(0.0, mean_ns - std::max(0.0, along / square) * mean_bytes);
}

bool isTransfer(const Node& node) {
  return (node.kind == EventKind::copy || node.kind == EventKind::communication) && node.bytes > 0;
}

using Transfers = std::map<std::uint32_t, std::vector<Transfer>>;

Transfers transfersOf(const Program& program) {
  Transfers by_name;
  for (const auto& task : program.tasks.all) {
    if (!task.isWork() || task.node == Task::kNone) continue;
    const auto& node = program.graph.nodes[task.node];
    if (isTransfer(node))
      by_name[node.name.value].push_back(
          {static_cast<double>(node.bytes), static_cast<double>(node.durNs())});
  }
  return by_name;
}

Status needsTransfers(const Program& program, const Edit& edit) {
  return transfersOf(program).empty() ? nothingFor(edit, "copies or collectives with their bytes") : Status();
}

}  // namespace

void applyTransfers(const Program& program, Case which, Changed& out) {
  const double latency = out.latency_factor, per_byte = out.byte_factor;
  if (latency == 1 && per_byte == 1) return;
  const auto& tasks = program.tasks;
  const auto by_name = transfersOf(program);
  std::map<std::uint32_t, std::optional<double>> latencies;
  for (const auto& [name, transfers] : by_name) latencies[name] = latencyOf(transfers);
  for (std::size_t i = 0; i < tasks.all.size(); ++i) {
    const auto& task = tasks.all[i];
    if (!task.isWork() || task.node == Task::kNone || !isTransfer(program.graph.nodes[task.node])) continue;
    const auto known = latencies[program.graph.nodes[task.node].name.value];
    auto& own = out.lengths.own_ns[i];
    const auto whole = static_cast<double>(own);
    if (known) {
      const double fixed = std::min(*known, whole);
      own = std::llround(fixed * latency + (whole - fixed) * per_byte);
    } else {
      const auto [best, worst] = std::minmax({latency, per_byte});
      own = times(own, pick(which, best, worst));
      out.note(
          "Some transfers all have one size: which part of their time depends on their bytes is unknown.");
    }
  }
}

Status applyBandwidth(const Program& program, const Edit& edit, Case, Changed& out) {
  PITWALL_TRY(needsTransfers(program, edit));
  out.byte_factor /= edit.value;
  return {};
}

Status applyLatency(const Program& program, const Edit& edit, Case, Changed& out) {
  PITWALL_TRY(needsTransfers(program, edit));
  out.latency_factor *= edit.value;
  return {};
}

}  // namespace pitwall::simulate
