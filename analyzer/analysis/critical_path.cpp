// The critical path through the operators of a sample of steady iterations, and each operator's slack.
//
// The path is walked backwards from the operator that ends last: before an operator comes what it had to wait
// for, the latest to end of its dependencies and of the operator before it on its thread. The time between
// the two is engine overhead from the moment the operator was pushed, and nothing before: the program had not
// asked for it. So the parts of the path sum to the sample's wall time.
//
// Slack is how much later an execution could have ended without delaying the sample's end, all else
// unchanged. The sample is the middle of the steady iterations, as many as hold at most 200000 executions:
// long traces repeat.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kMostOperators = 200'000;

struct Sample {
  Interval window;
  std::span<const OperatorInterval> operators;
};

Sample sampleOf(const Context& context) {
  const auto& operators = context.timeline.operators;
  const auto& iterations = context.iterations.all;
  const auto within = [&](TimeNs from, TimeNs to) {
    const auto before = [](const OperatorInterval& op, TimeNs at) { return op.start_ns < at; };
    const auto first = std::lower_bound(operators.begin(), operators.end(), from, before);
    return std::span<const OperatorInterval>(first, std::lower_bound(first, operators.end(), to, before));
  };
  std::vector<const Iteration*> steady;
  for (const auto& iteration : iterations) {
    if (iteration.role == IterationRole::steady) steady.push_back(&iteration);
  }
  if (steady.empty()) {
    const auto all = std::span(operators).first(std::min(kMostOperators, operators.size()));
    if (all.empty()) return {};
    TimeNs end = all.front().end_ns;
    for (const auto& op : all) end = std::max(end, op.end_ns);
    return {{all.front().start_ns, end}, all};
  }
  // Neighbours in time, from the middle on.
  std::size_t last = steady.size() / 2;
  const Iteration* first = steady[last];
  Sample sample{{first->start_ns, first->end_ns}, within(first->start_ns, first->end_ns)};
  while (last + 1 < steady.size() && steady[last + 1]->start_ns == steady[last]->end_ns) {
    const auto more = within(first->start_ns, steady[last + 1]->end_ns);
    if (more.size() > kMostOperators) break;
    sample = {{first->start_ns, steady[++last]->end_ns}, more};
  }
  return sample;
}

// Predecessors of each execution of the sample, by index.
class Graph {
 public:
  explicit Graph(std::span<const OperatorInterval> operators)
      : operators_(operators), before_(operators.size()) {
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
    auto rows =
        trace.query("SELECT source, target FROM dependency WHERE target BETWEEN :low AND :high", range);
    if (!rows.has_value()) return fail(rows.error());
    for (const auto& row : rows.value().rows) {
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
  // Only what starts earlier can be waited for; that also rules out cycles.
  void add(std::size_t source, std::size_t target) {
    if (source < target) before_[target].push_back(static_cast<std::uint32_t>(source));
  }
  std::span<const OperatorInterval> operators_;
  std::unordered_map<CorrelationId, std::size_t> index_;
  std::vector<std::vector<std::uint32_t>> before_;
};

struct Row {
  TimeNs on_path_ns = 0, slack_min_ns = INT64_MAX;
  double slack_sum = 0;
  std::int64_t executions = 0;
};

struct Path {
  std::map<std::uint32_t, Row> operators;  // by OperatorId.value
  TimeNs overhead_ns = 0, nothing_ns = 0;
};

void walk(const Sample& sample, const Graph& graph, Path& path) {
  const auto& ops = sample.operators;
  std::size_t current = 0;
  for (std::size_t i = 1; i < ops.size(); ++i) {
    if (ops[i].end_ns > ops[current].end_ns) current = i;
  }
  TimeNs at = sample.window.end_ns;  // what is later is explained
  path.nothing_ns += std::max<TimeNs>(0, at - ops[current].end_ns);
  at = std::min(at, ops[current].end_ns);
  for (;;) {
    const auto& op = ops[current];
    path.operators[op.op.value].on_path_ns += at - std::min(at, op.start_ns);
    at = std::min(at, op.start_ns);
    const auto& before = graph.before(current);
    const auto latest = std::max_element(before.begin(), before.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ops[a].end_ns < ops[b].end_ns;
    });
    const bool first = latest == before.end();
    const TimeNs from =
        std::max(sample.window.start_ns, std::min(at, first ? sample.window.start_ns : ops[*latest].end_ns));
    const TimeNs asked = std::clamp(op.pushed_ns, from, at);
    path.nothing_ns += asked - from;
    path.overhead_ns += at - asked;
    at = from;
    if (first || at <= sample.window.start_ns) return;
    current = *latest;
  }
}

void addSlack(const Sample& sample, const Graph& graph, Path& path) {
  const auto& ops = sample.operators;
  TimeNs end = 0;
  for (const auto& op : ops) end = std::max(end, op.end_ns);
  std::vector<TimeNs> latest(ops.size(), end);
  for (std::size_t i = ops.size(); i-- > 0;) {
    for (const auto p : graph.before(i))
      latest[p] = std::min(latest[p], latest[i] - (ops[i].end_ns - ops[i].start_ns));
    const TimeNs slack = std::max<TimeNs>(0, latest[i] - ops[i].end_ns);
    auto& row = path.operators[ops[i].op.value];
    ++row.executions;
    row.slack_sum += static_cast<double>(slack);
    row.slack_min_ns = std::min(row.slack_min_ns, slack);
  }
}

Status writeFollows(Trace& trace, const Timeline& timeline) {
  TempTable table("analysis_follows", "first INTEGER, second INTEGER, count INTEGER, second_ns INTEGER");
  struct Follow {
    std::uint32_t second = 0;
    std::int64_t count = 0;
    TimeNs second_ns = 0;
  };
  std::vector<std::uint32_t> last(trace.tracks().size() + 1, 0);             // by track
  std::vector<std::vector<Follow>> pairs(trace.operatorFacts().size() + 1);  // by the first; few follow one
  for (const auto& op : timeline.operators) {
    auto& before = last[op.track];
    if (before != 0 && op.op) {
      auto& follows = pairs[before];
      auto found = std::find_if(follows.begin(), follows.end(),
                                [&](const Follow& follow) { return follow.second == op.op.value; });
      if (found == follows.end()) found = follows.insert(found, {op.op.value});
      ++found->count;
      found->second_ns += op.end_ns - op.start_ns;
    }
    before = op.op.value < pairs.size() ? op.op.value : 0;
  }
  for (std::size_t first = 1; first < pairs.size(); ++first) {
    std::sort(pairs[first].begin(), pairs[first].end(),
              [](const Follow& a, const Follow& b) { return a.second < b.second; });
    for (const auto& follow : pairs[first]) {
      table.row({static_cast<std::int64_t>(first), static_cast<std::int64_t>(follow.second), follow.count,
                 follow.second_ns});
    }
  }
  return table.write(trace);
}

}  // namespace

Status writeCriticalPath(Trace& trace, const Context& context) {
  if (auto status = writeFollows(trace, context.timeline); !status.has_value()) return status;
  TempTable table(
      "analysis_critical",
      "title TEXT, phase TEXT, on_path_ns INTEGER, share REAL, executions INTEGER, slack_min_ns INTEGER, "
      "slack_mean_ns INTEGER");
  const auto sample = sampleOf(context);
  if (sample.operators.empty()) return table.write(trace);
  Graph graph(sample.operators);
  if (auto status = graph.load(trace); !status.has_value()) return status;
  Path path;
  walk(sample, graph, path);
  addSlack(sample, graph, path);
  const auto wall = static_cast<double>(std::max<TimeNs>(1, sample.window.end_ns - sample.window.start_ns));
  const auto facts = trace.operatorFacts();
  for (const auto& [op, row] : path.operators) {
    const bool known = op > 0 && op <= facts.size();
    const auto& layer = known ? facts[op - 1].layer : std::string();
    const auto& name = known ? facts[op - 1].name : std::string("operator");
    table.row({layer.empty() ? name : layer + " " + name, known ? toString(facts[op - 1].phase) : "none",
               row.on_path_ns, static_cast<double>(row.on_path_ns) / wall, row.executions, row.slack_min_ns,
               static_cast<std::int64_t>(row.slack_sum /
                                         static_cast<double>(std::max<std::int64_t>(1, row.executions)))});
  }
  table.row({"engine overhead",
             "none",
             path.overhead_ns,
             static_cast<double>(path.overhead_ns) / wall,
             {},
             {},
             {}});
  table.row({"nothing", "none", path.nothing_ns, static_cast<double>(path.nothing_ns) / wall, {}, {}, {}});
  return table.write(trace);
}

}  // namespace pitwall::analysis
