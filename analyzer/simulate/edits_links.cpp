// Changes of links: copies and collectives take a latency and a time for their bytes.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/analysis/store_operators.h"
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

// The name of an operator by which a key-value store exchanges an array with other processes; else empty.
std::string_view exchangeOf(const Program& program, const Task& task) {
  if ((task.flags & Task::kNoWorker) == 0 || task.node == Task::kNone) return {};
  const auto op = program.graph.nodes[task.node].op;
  if (!op || op.value > program.operators.size()) return {};
  const std::string_view name = program.operators[op.value - 1].name;
  return analysis::isStoreExchange(name) ? name : std::string_view();
}

bool hasExchanges(const Program& program) {
  return std::ranges::any_of(program.tasks.all,
                             [&](const Task& task) { return !exchangeOf(program, task).empty(); });
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
  if (!transfersOf(program).empty() || hasExchanges(program)) return {};
  return nothingFor(edit, "copies or collectives with their bytes");
}

struct Range {
  double low = 1, high = 1;
  Range times(double factor) const { return {low * factor, high * factor}; }
};

// How much longer the parts of a collective's time are with another number of ranks.
struct Growth {
  Range latency, bytes;
};

// A ring of n ranks takes a number of steps in proportion to n - 1, a tree to log n, and sends (n - 1) / n of the bytes to each
// rank. What gathers the parts of all ranks may have as many times more bytes. Messages between two ranks stay as they are.
Growth growthOf(const Program& program, std::string name, const Changed& out) {
  if (!out.ranks) return {};
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto holds = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (holds("send") || holds("recv")) return {};
  const double before = static_cast<double>(program.ranks), after = *out.ranks;
  const double ring = (after - 1) / (before - 1), tree = std::log2(after) / std::log2(before);
  const double share = ring * before / after;
  const auto [low, high] = std::minmax(ring, tree);
  if (!holds("gather")) return {{low, high}, {share, share}};
  return {{low, high}, {std::min(share, ring), std::max(share, ring)}};
}

// From the moment when its data is ready an operator waits for other exchanges of its process and for other ranks; then a thread carries
// the exchange out, which may wait for other ranks too. So at most what is carried out meanwhile changes.
void applyExchanges(const Program& program, Case which, Changed& out) {
  for (std::size_t i = 0; i < program.tasks.all.size(); ++i) {
    const Task& task = program.tasks.all[i];
    const auto exchange = exchangeOf(program, task);
    if (exchange.empty()) continue;
    const auto& node = program.graph.nodes[task.node];
    const auto carried_out = static_cast<double>(
        analysis::covered(analysis::within(program.exchanges, node.start_ns, node.end_ns)));
    const double share =
        program.exchanges.empty() ? 1 : carried_out / static_cast<double>(std::max<TimeNs>(1, node.durNs()));
    const Growth growth =
        analysis::isOfAllRanks(exchange) ? growthOf(program, std::string(exchange), out) : Growth{};
    const Range latency = growth.latency.times(out.latency_factor),
                per_byte = growth.bytes.times(out.byte_factor);
    const double best = std::min({1.0, latency.low, per_byte.low}),
                 worst = std::max({1.0, latency.high, per_byte.high});
    auto& own = out.lengths.own_ns[i];
    own = times(own, 1 + (pick(which, best, worst) - 1) * share);
    out.note(
        "An exchange of a key-value store may wait for the data of other ranks: from none to all of its time "
        "changes.");
  }
}

}  // namespace

void applyTransfers(const Program& program, Case which, Changed& out) {
  if (out.latency_factor == 1 && out.byte_factor == 1 && !out.ranks) return;
  applyExchanges(program, which, out);
  const auto& tasks = program.tasks;
  const auto by_name = transfersOf(program);
  struct Parts {
    std::optional<double> latency_ns;
    Growth growth;  // of collectives
  };
  std::map<std::uint32_t, Parts> parts;
  for (const auto& [name, transfers] : by_name)
    parts[name] = {latencyOf(transfers), growthOf(program, program.titleOf({}, StringId{name}), out)};
  for (std::size_t i = 0; i < tasks.all.size(); ++i) {
    const auto& task = tasks.all[i];
    if (!task.isWork() || task.node == Task::kNone || !isTransfer(program.graph.nodes[task.node])) continue;
    const auto& node = program.graph.nodes[task.node];
    const Parts& known = parts.at(node.name.value);
    const Growth growth = node.kind == EventKind::communication ? known.growth : Growth{};
    const Range latency = growth.latency.times(out.latency_factor),
                per_byte = growth.bytes.times(out.byte_factor);
    auto& own = out.lengths.own_ns[i];
    const auto whole = static_cast<double>(own);
    if (known.latency_ns) {
      const double fixed = std::min(*known.latency_ns, whole);
      own = std::llround(fixed * pick(which, latency.low, latency.high) +
                         (whole - fixed) * pick(which, per_byte.low, per_byte.high));
    } else {
      own =
          times(own, pick(which, std::min(latency.low, per_byte.low), std::max(latency.high, per_byte.high)));
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

Status applyRanks(const Program& program, const Edit& edit, Case, Changed& out) {
  const auto& tasks = program.tasks.all;
  const bool any = std::ranges::any_of(tasks, [&](const Task& task) {
    if (analysis::isOfAllRanks(exchangeOf(program, task))) return true;
    return task.isWork() && task.node != Task::kNone && isTransfer(program.graph.nodes[task.node]) &&
           program.graph.nodes[task.node].kind == EventKind::communication;
  });
  if (program.ranks < 2 || !any) return nothingFor(edit, "collectives of several ranks with their bytes");
  out.ranks = edit.value;
  out.note(
      "Ranks are taken to come to a collective as late as in the recording; among more ranks the last one "
      "comes later.");
  return {};
}

}  // namespace pitwall::simulate
