// The part of a trace in which the critical path is computed, and its tables.
//
// The sample is the middle of the steady iterations, as many as hold at most 200000 events: long traces
// repeat, and so neither time nor memory grows with them.
#include "analyzer/critical_path/tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/critical_path/path.h"
#include "analyzer/dependencies/operator_graph.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kCriticalColumns[] = {
    {"title", kText, "", "layer and type of an operator, name of other work, or the part"},
    {"phase", kText, "", "of an operator: 'forward', 'backward', 'update', 'data'; else 'none'"},
    {"on_path_ns", kInteger, "ns", "its time on the path"},
    {"share", kReal, "0..1", "of the sample's wall time; the shares sum to 1"},
    {"executions", kInteger, "count", "in the sample; null = a gap"},
    {"slack_min_ns", kInteger, "ns",
     "how much later one could end without delaying the end: least; null = a gap"},
    {"slack_mean_ns", kInteger, "ns", "the same: mean; null = a gap"},
    {"part", kText, "",
     "'operator', 'call', 'kernel', 'copy', 'communication', 'data wait', 'launch delay', 'device delay', "
     "'engine overhead' or 'nothing'"},
};
constexpr Column kCriticalStepColumns[] = {
    {"start_ns", kInteger, "ns", "begin, since the trace's start; each begins where the one before it ends"},
    {"dur_ns", kInteger, "ns", "duration"},
    {"part", kText, "", "as in analysis_critical"},
    {"title", kText, "", "as in analysis_critical"},
    {"track_id", kInteger, "id", "track of the event; null = a gap"},
};
constexpr Column kCriticalPathColumns[] = {
    {"begin_ns", kInteger, "ns", "begin of the sample, since the trace's start"},
    {"span_ns", kInteger, "ns", "length of the sample"},
    {"device_ns", kInteger, "ns", "kernels, copies and communication on the path"},
    {"host_ns", kInteger, "ns", "operators, calls and waits for data on the path"},
    {"delay_ns", kInteger, "ns", "delays of launches, streams and the engine on the path"},
    {"nothing_ns", kInteger, "ns",
     "none of these; device_ns, host_ns, delay_ns and nothing_ns sum to span_ns"},
    {"steps", kInteger, "count", "steps of the path"},
    {"missing", kText, "",
     "what the path would need and the trace does not have, joined by '; '; empty = nothing"},
};

constexpr TableDeclaration kCriticalTable{
    "analysis_critical",
    "A title and part of the steps that determine the end of a sample: the middle steady iterations, else "
    "the trace. Rows without executions are the gaps.",
    kCriticalColumns};
constexpr TableDeclaration kCriticalStepTable{
    "analysis_critical_step",
    "A step of the critical path, in order of time; of long paths the last 10000 steps.",
    kCriticalStepColumns};
constexpr TableDeclaration kCriticalPathTable{
    "analysis_critical_path", "One row: the critical path as a whole. No row = the trace has none.",
    kCriticalPathColumns};

namespace {

constexpr std::size_t kMostEvents = CriticalPath::kMostEvents;
constexpr double kFewestEvents = 100;  // that a detected iteration of another program must contain

struct PathSample {
  Interval window;
  std::vector<OperatorInterval> operators;
};

std::vector<const Iteration*> steadyOnes(const Context& context) {
  std::vector<const Iteration*> steady;
  for (const auto& iteration : context.iterations.all) {
    if (iteration.role == IterationRole::steady) steady.push_back(&iteration);
  }
  return steady;
}

// Neighbours in time, from the middle on, while `fits` returns true.
template <typename Fits>
Interval neighbours(const std::vector<const Iteration*>& steady, const Fits& fits) {
  std::size_t last = steady.size() / 2;
  Interval window{steady[last]->start_ns, steady[last]->end_ns};
  while (last + 1 < steady.size() && steady[last + 1]->start_ns == window.end_ns &&
         fits(Interval{window.start_ns, steady[last + 1]->end_ns}))
    window.end_ns = steady[++last]->end_ns;
  return window;
}

Result<PathSample> sampleOfOperators(const Context& context) {
  const auto steady = steadyOnes(context);
  PathSample sample;
  if (steady.empty()) {
    sample.operators = PITWALL_TRY(context.chunks.firstOperators(kMostEvents));
    sample.operators.resize(std::min(kMostEvents, sample.operators.size()));
    if (sample.operators.empty()) return sample;
    sample.window = {sample.operators.front().start_ns, sample.operators.front().end_ns};
    for (const auto& op : sample.operators) sample.window.end_ns = std::max(sample.window.end_ns, op.end_ns);
    return sample;
  }
  const Iteration* all = context.iterations.all.data();
  const Iteration* last = steady[steady.size() / 2];
  const auto executions = [&] { return context.executions[static_cast<std::size_t>(last - all)]; };
  std::size_t held = executions();
  sample.window = neighbours(steady, [&](Interval wider) {
    for (; last->end_ns < wider.end_ns; held += executions()) ++last;
    return held <= kMostEvents;
  });
  sample.operators =
      PITWALL_TRY(context.chunks.operatorsBetween(sample.window.start_ns, sample.window.end_ns));
  return sample;
}

// As many steady iterations as hold about that many events if they are evenly spaced; else the whole trace,
// of which readWindow() takes the middle.
Interval windowOfDevices(const Trace& trace, const Context& context) {
  TimeNs begin = INT64_MAX, end = 0;
  std::int64_t events = 0;
  for (const auto& track : context.activity.tracks) {
    const auto process = trace.tracks()[track.id.value - 1].process;
    if ((process && process != context.timeline.process) || track.events == 0) continue;
    begin = std::min(begin, track.first_ns);
    end = std::max(end, track.last_ns);
    events += track.events;
  }
  if (events == 0 || end <= begin) return {};
  const auto steady = steadyOnes(context);
  if (steady.empty()) return {begin, end};
  const double rate = static_cast<double>(events) / static_cast<double>(end - begin);
  const auto held = [rate](Interval part) { return rate * static_cast<double>(part.end_ns - part.start_ns); };
  const Interval window =
      neighbours(steady, [&](Interval wider) { return held(wider) <= static_cast<double>(kMostEvents); });
  const bool all_small = context.iterations.source == "repeating sequence" && held(window) < kFewestEvents;
  return all_small ? Interval{begin, end} : window;
}

struct Title {
  std::string text, phase;
  friend bool operator<(const Title& a, const Title& b) {
    return std::tie(a.text, a.phase) < std::tie(b.text, b.phase);
  }
};

Title titleOf(const Trace& trace, const PathKey& key) {
  if (key.op && key.op.value <= trace.operatorFacts().size()) {
    const auto& facts = trace.operatorFacts()[key.op.value - 1];
    return {facts.layer.empty() ? facts.name : facts.layer + " " + facts.name, toString(facts.phase)};
  }
  return {key.name ? trace.string(key.name) : toString(key.part), "none"};
}

double wallOf(const CriticalPath& path) {
  return static_cast<double>(std::max<TimeNs>(1, path.window.end_ns - path.window.start_ns));
}

Status writeSums(Trace& trace, const CriticalPath& path) {
  TempTable table(kCriticalTable);
  // Operators of one title differ in their shapes.
  std::map<std::pair<PathPart, Title>, PathSums> rows;
  for (const auto& [key, sums] : path.sums) {
    auto& row = rows[{key.part, titleOf(trace, key)}];
    row.on_path_ns += sums.on_path_ns;
    row.slack_min_ns = std::min(row.slack_min_ns, sums.slack_min_ns);
    row.slack_sum_ns += sums.slack_sum_ns;
    row.executions += sums.executions;
  }
  for (const auto& [key, row] : rows) {
    const auto& [part, title] = key;
    const bool runs = row.executions > 0;
    table.row(
        {title.text, title.phase, row.on_path_ns, static_cast<double>(row.on_path_ns) / wallOf(path),
         known(runs, row.executions), known(runs, row.slack_min_ns),
         known(runs, static_cast<std::int64_t>(
                         row.slack_sum_ns / static_cast<double>(std::max<std::int64_t>(1, row.executions)))),
         toString(part)});
  }
  return table.write(trace);
}

Status writeSteps(Trace& trace, const CriticalPath& path) {
  TempTable table(kCriticalStepTable);
  for (const auto& step : path.steps) {
    table.row({step.start_ns, step.end_ns - step.start_ns, toString(step.key.part),
               titleOf(trace, step.key).text,
               known(static_cast<bool>(step.track), std::int64_t{step.track.value})});
  }
  return table.write(trace);
}

// What the path consists of: device work, the host, or neither.
Status writeWhole(Trace& trace, const CriticalPath& path) {
  TempTable table(kCriticalPathTable);
  if (path.sums.empty()) return table.write(trace);
  TimeNs device = 0, host = 0, delay = 0, nothing = 0;
  for (const auto& [key, sums] : path.sums) {
    switch (key.part) {
      case PathPart::kernel:
      case PathPart::copy:
      case PathPart::communication: device += sums.on_path_ns; break;
      case PathPart::operatorRun:
      case PathPart::call:
      case PathPart::dataWait: host += sums.on_path_ns; break;
      case PathPart::launchDelay:
      case PathPart::deviceDelay:
      case PathPart::engineOverhead: delay += sums.on_path_ns; break;
      case PathPart::nothing: nothing += sums.on_path_ns; break;
    }
  }
  std::string missing;
  for (const auto& sentence : path.missing) missing += (missing.empty() ? "" : "; ") + sentence;
  table.row({path.window.start_ns, path.window.end_ns - path.window.start_ns, device, host, delay, nothing,
             path.step_count, missing});
  return table.write(trace);
}

}  // namespace

Result<PathSummary> criticalPathSummary(Trace& trace) {
  PathSummary summary;
  const auto whole = PITWALL_TRY(
      trace.query("SELECT begin_ns, span_ns, device_ns, host_ns, delay_ns, nothing_ns, missing FROM "
                  "analysis_critical_path"));
  if (whole.rows.empty()) return summary;
  const auto rows = PITWALL_TRY(trace.query(
      "SELECT title, phase, part, ifnull(executions, 0), on_path_ns, share, ifnull(slack_mean_ns, 0) "
      "FROM analysis_critical WHERE on_path_ns > 0 ORDER BY on_path_ns DESC, title, phase, part"));
  const auto number = [](const SqlValue& value) { return std::get<std::int64_t>(value); };
  const auto text = [](const SqlValue& value) { return std::get<std::string>(value); };
  const auto& w = whole.rows.front();
  summary = {number(w[0]), number(w[1]), number(w[2]), number(w[3]),
             number(w[4]), number(w[5]), {},           text(w[6])};
  for (const auto& row : rows.rows) {
    summary.rows.push_back({text(row[0]), text(row[1]), text(row[2]), number(row[3]), number(row[4]),
                            std::get<double>(row[5]), number(row[6])});
  }
  return summary;
}

const char* toString(PathPart part) {
  switch (part) {
    case PathPart::operatorRun: return "operator";
    case PathPart::call: return "call";
    case PathPart::kernel: return "kernel";
    case PathPart::copy: return "copy";
    case PathPart::communication: return "communication";
    case PathPart::dataWait: return "data wait";
    case PathPart::launchDelay: return "launch delay";
    case PathPart::deviceDelay: return "device delay";
    case PathPart::engineOverhead: return "engine overhead";
    case PathPart::nothing: return "nothing";
  }
  return "nothing";
}

void CriticalPath::step(TimeNs from, TimeNs to, const PathKey& key, TrackId track) {
  if (to <= from) return;
  sums[key].on_path_ns += to - from;
  ++step_count;
  if (steps.size() < kMostSteps) steps.push_back({from, to, key, track});
}

void CriticalPath::slack(const PathKey& key, TimeNs slack_ns) {
  auto& row = sums[key];
  slack_ns = std::max<TimeNs>(0, slack_ns);
  ++row.executions;
  row.slack_sum_ns += static_cast<double>(slack_ns);
  row.slack_min_ns = std::min(row.slack_min_ns, slack_ns);
}

Status writeCriticalPath(Trace& trace, const Context& context) {
  auto sample = PITWALL_TRY(sampleOfOperators(context));
  auto path =
      PITWALL_TRY(!context.operators_launch_work && tellsOfAnEngine(sample.operators)
                      ? criticalPathOfOperators(trace, sample.window, std::move(sample.operators))
                      : criticalPathOfDevices(trace, context.activity, windowOfDevices(trace, context),
                                              context.timeline.process));
  for (auto* write : {writeSums, writeSteps, writeWhole}) {
    PITWALL_TRY(write(trace, path));
  }
  return {};
}

}  // namespace pitwall::analysis
