// The path is followed backwards from the operator that ends last: before an operator comes the one that it
// waited for, the latest to end of its dependencies and of the operator before it on its thread. The time
// between the two is engine overhead from the moment the operator was pushed, and unexplained before: the
// program had not pushed it.
#include <algorithm>
#include <unordered_map>

#include "analyzer/analysis/critical_path.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

// Predecessors of each execution, by index.
class Graph {
 public:
  explicit Graph(std::span<const OperatorInterval> operators) : before_(operators.size()) {
    std::unordered_map<std::uint32_t, std::size_t> last_on_track;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].correlation != 0) index_[operators[i].correlation] = i;
      const auto [entry, is_new] = last_on_track.try_emplace(operators[i].track, i);
      if (!is_new) add(entry->second, i), entry->second = i;
    }
  }

  Status load(Trace& trace) {
    if (index_.empty()) return {};
    std::uint64_t low = UINT64_MAX, high = 0;
    for (const auto& [correlation, i] : index_)
      low = std::min(low, correlation), high = std::max(high, correlation);
    const SqlParameter range[] = {{":low", static_cast<std::int64_t>(low)},
                                  {":high", static_cast<std::int64_t>(high)}};
    auto rows = PITWALL_TRY(
        trace.query("SELECT source, target FROM dependency WHERE target BETWEEN :low AND :high", range));
    for (const auto& row : rows.rows) {
      const auto* source = std::get_if<std::int64_t>(&row[0]);
      const auto* target = std::get_if<std::int64_t>(&row[1]);
      if (source == nullptr || target == nullptr) continue;
      const auto from = index_.find(static_cast<std::uint64_t>(*source));
      const auto to = index_.find(static_cast<std::uint64_t>(*target));
      if (from != index_.end() && to != index_.end()) add(from->second, to->second);
    }
    return {};
  }

  const std::vector<std::uint32_t>& before(std::size_t i) const { return before_[i]; }

 private:
  // An operator can only wait for an earlier one; this also excludes cycles.
  void add(std::size_t source, std::size_t target) {
    if (source < target) before_[target].push_back(static_cast<std::uint32_t>(source));
  }
  std::unordered_map<CorrelationId, std::size_t> index_;
  std::vector<std::vector<std::uint32_t>> before_;
};

PathKey keyOf(const OperatorInterval& op) { return {PathPart::operatorRun, op.op, {}}; }

void walk(std::span<const OperatorInterval> ops, const Graph& graph, CriticalPath& path) {
  std::size_t current = 0;
  for (std::size_t i = 1; i < ops.size(); ++i) {
    if (ops[i].end_ns > ops[current].end_ns) current = i;
  }
  TimeNs at = std::min(path.window.end_ns, ops[current].end_ns);  // later time is already explained
  path.step(at, path.window.end_ns, {});
  for (;;) {
    const auto& op = ops[current];
    const TimeNs start = std::min(at, op.start_ns);
    path.step(start, at, keyOf(op), TrackId{op.track});
    at = start;
    const auto& before = graph.before(current);
    const auto latest = std::max_element(before.begin(), before.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ops[a].end_ns < ops[b].end_ns;
    });
    const bool first = latest == before.end();
    const TimeNs from =
        std::max(path.window.start_ns, std::min(at, first ? path.window.start_ns : ops[*latest].end_ns));
    const TimeNs asked = std::clamp(op.pushed_ns, from, at);
    path.step(asked, at, {PathPart::engineOverhead, {}, {}});
    path.step(from, asked, {});
    at = from;
    if (first || at <= path.window.start_ns) return;
    current = *latest;
  }
}

void addSlack(std::span<const OperatorInterval> ops, const Graph& graph, CriticalPath& path) {
  TimeNs end = 0;
  for (const auto& op : ops) end = std::max(end, op.end_ns);
  std::vector<TimeNs> latest(ops.size(), end);
  for (std::size_t i = ops.size(); i-- > 0;) {
    for (const auto p : graph.before(i))
      latest[p] = std::min(latest[p], latest[i] - (ops[i].end_ns - ops[i].start_ns));
    path.slack(keyOf(ops[i]), latest[i] - ops[i].end_ns);
  }
}

}  // namespace

Result<CriticalPath> criticalPathOfOperators(Trace& trace, Interval window,
                                             std::span<const OperatorInterval> operators) {
  CriticalPath path;
  path.window = window;
  if (operators.empty()) return path;
  // Shown even where there are none.
  path.sums[{}], path.sums[{PathPart::engineOverhead, {}, {}}];
  Graph graph(operators);
  PITWALL_TRY(graph.load(trace));
  walk(operators, graph, path);
  addSlack(operators, graph, path);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace pitwall::analysis
