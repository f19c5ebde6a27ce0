// The path is followed backwards from the operator that ends last: before an operator comes the one that it
// waited for, the latest to end of its dependencies and of the operator before it on its thread. The time
// between the two is engine overhead from the moment the operator was pushed, and unexplained before: the
// program had not pushed it.
#include <algorithm>
#include <utility>

#include "analyzer/critical_path/path.h"
#include "analyzer/dependencies/operator_graph.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

PathKey keyOf(const Node& op) { return {PathPart::operatorRun, op.op, {}}; }

void walk(const Graph& graph, CriticalPath& path) {
  const auto& ops = graph.nodes;
  std::uint32_t current = 0;
  for (std::uint32_t i = 1; i < ops.size(); ++i) {
    if (ops[i].end_ns > ops[current].end_ns) current = i;
  }
  TimeNs at = std::min(path.window.end_ns, ops[current].end_ns);  // later time is already explained
  path.step(at, path.window.end_ns, {});
  for (;;) {
    const auto& op = ops[current];
    const TimeNs start = std::min(at, op.start_ns);
    path.step(start, at, keyOf(op), graph.resources[op.resource].track);
    at = start;
    const auto before = graph.into(current);
    const auto latest = std::max_element(before.begin(), before.end(), [&](const Wait& a, const Wait& b) {
      return ops[a.from].end_ns < ops[b.from].end_ns;
    });
    const bool first = latest == before.end();
    const TimeNs from =
        std::max(path.window.start_ns, std::min(at, first ? path.window.start_ns : ops[latest->from].end_ns));
    const TimeNs asked = std::clamp(op.asked_ns, from, at);
    path.step(asked, at, {PathPart::engineOverhead, {}, {}});
    path.step(from, asked, {});
    at = from;
    if (first || at <= path.window.start_ns) return;
    current = latest->from;
  }
}

void addSlack(const Graph& graph, CriticalPath& path) {
  const auto& ops = graph.nodes;
  TimeNs end = 0;
  for (const auto& op : ops) end = std::max(end, op.end_ns);
  std::vector<TimeNs> latest(ops.size(), end);
  for (auto i = static_cast<std::uint32_t>(ops.size()); i-- > 0;) {
    for (const auto& wait : graph.into(i))
      latest[wait.from] = std::min(latest[wait.from], latest[i] - ops[i].durNs());
    path.slack(keyOf(ops[i]), latest[i] - ops[i].end_ns);
  }
}

}  // namespace

Result<CriticalPath> criticalPathOfOperators(Trace& trace, Interval window,
                                             std::vector<OperatorInterval> operators) {
  CriticalPath path;
  path.window = window;
  if (operators.empty()) return path;
  // Shown even where there are none.
  path.sums[{}], path.sums[{PathPart::engineOverhead, {}, {}}];
  const Graph graph = PITWALL_TRY(graphOfOperators(trace, window, std::move(operators)));
  walk(graph, path);
  addSlack(graph, path);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace pitwall::analysis
