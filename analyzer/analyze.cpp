// The order of an analysis: a pass that gathers, one over the time chunks, facts, tables, rules, budget.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/code.h"
#include "analyzer/analysis/coverage.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/program_run.h"
#include "analyzer/analysis/reading.h"
#include "analyzer/analysis/report_rows.h"
#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/sampled_use.h"
#include "analyzer/analysis/setting_table.h"
#include "analyzer/analysis/summary.h"
#include "analyzer/analysis/tables.h"
#include "analyzer/analysis/time_chunk_pass.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/analysis/timeline.h"
#include "analyzer/analysis/trials.h"
#include "analyzer/critical_path/tables.h"
#include "analyzer/rules/budget.h"
#include "analyzer/rules/disturbed.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/run_rule.h"
#include "analyzer/rules/saved_status.h"
#include "analyzer/simulate/tables.h"
#include "analyzer/units_text.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall {

const char* toString(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::low: return "low";
    case Severity::medium: return "medium";
    case Severity::high: return "high";
  }
  return "info";
}

double estimatedGain(double low, double high) {
  constexpr double kFastest = 100;  // times as fast; all of the time is never removed
  const auto left = [](double gain) { return std::max(1 / kFastest, 1 - gain); };
  return std::clamp(1 - std::sqrt(left(low) * left(high)), low, high);
}

const char* toString(Confidence confidence) {
  switch (confidence) {
    case Confidence::low: return "low";
    case Confidence::medium: return "medium";
    case Confidence::high: return "high";
  }
  return "low";
}

namespace {

using namespace analysis;

// CPU time of this thread: other work of the machine does not count.
TimeNs cpuNow() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Notes in the report how long each part of an analysis took.
class Stopwatch {
 public:
  explicit Stopwatch(Report& report) : report_(report) {}
  // The time since the last lap belongs to that part.
  void lap(std::string_view part) {
    const TimeNs now = cpuNow();
    auto& timings = report_.timings;
    auto found = std::find_if(timings.begin(), timings.end(), [&](const auto& t) { return t.first == part; });
    if (found == timings.end()) found = timings.emplace(timings.end(), std::string(part), 0);
    found->second += now - since_;
    since_ = now;
  }

 private:
  Report& report_;
  TimeNs since_ = cpuNow();
};

Status writeDeviceTables(Trace& trace, const Context& context, const TimeChunkPass& pass, Stopwatch& watch) {
  PITWALL_TRY(writeDevices(trace, context));
  watch.lap("analysis gaps");
  for (const auto& [name, analysis] : pass.analyses) {
    PITWALL_TRY(analysis->write(trace, context));
    watch.lap(name);
  }
  struct Part {
    const char* name;
    Status (*write)(Trace&, const Context&);
  };
  constexpr Part kParts[] = {{"analysis memory", writeMemory},
                             {"analysis data", writeData},
                             {"analysis outliers", writeOutlierContent},
                             {"analysis kvstore", writeKVStore},
                             {"analysis critical path", writeCriticalPath},
                             {"analysis simulation", simulate::writeSimulation}};
  for (const auto& [name, write] : kParts) {
    PITWALL_TRY(write(trace, context));
    watch.lap(name);
  }
  return {};
}

void addContext(const Trace& trace, const Timeline& timeline, Report& report) {
  const auto add = [&report](const char* key, const std::string& value) {
    if (!value.empty()) report.context.emplace_back(key, value);
  };
  const auto meta = [&trace](const char* key) {
    const auto value = trace.meta(key).value_or("");
    return value == "unknown" ? "" : value;
  };
  add("program", timeline.process_name);
  std::string machine = meta(meta::kCpuModel);
  if (const auto cpus = meta(meta::kUsableCpus); !cpus.empty()) {
    const auto cores = meta(meta::kUsableCores);
    machine += fmt::format("{}{} usable CPU{}", machine.empty() ? "" : ", ", cpus, cpus == "1" ? "" : "s");
    if (!cores.empty()) machine += fmt::format(" on {} core{}", cores, cores == "1" ? "" : "s");
  }
  add("machine", machine);
  add("engine", meta(meta::kEngine));
  std::string backend = meta(meta::kBackend);
  if (const auto runtime = meta(meta::kOpenMpRuntime); !runtime.empty()) {
    const auto threads = meta(meta::kOpenMpThreads);
    backend += (backend.empty() ? "" : ", ") + runtime;
    if (!threads.empty()) backend += fmt::format(" with {} thread{}", threads, threads == "1" ? "" : "s");
  }
  add("backend", backend);
  const bool is_sum = report.timeline_kind == "sums only";
  add(is_sum ? "summed" : "recorded", showDuration(static_cast<double>(timeline.end_ns - timeline.begin_ns)));
  add("producer", meta(meta::kProducer));
}

// A trace without events is as long as the recording, and describes the program that was started.
void describeWithoutEvents(const Trace& trace, Timeline& timeline) {
  if (timeline.end_ns > timeline.begin_ns) return;
  timeline.begin_ns = 0;
  timeline.end_ns = std::strtoll(trace.meta(meta::kTraceEndNs).value_or("0").c_str(), nullptr, 10);
  if (!timeline.process_name.empty()) return;
  for (const ProcessInfo& process : trace.processes()) {  // an exec replaces the first program
    if (process.pid == trace.processes().front().pid) timeline.process_name = process.name;
  }
}

// Of a trace without events: the report is about the process that used the CPUs, not the script that started
// it.
Status addSampledUse(Trace& trace, bool has_events, Timeline& timeline, Report& report) {
  auto uses = PITWALL_TRY(sampledUses(trace));
  report.sampled = std::move(uses.busiest);
  for (std::string& sentence : uses.sentences) report.notes.push_back(std::move(sentence));
  if (report.sampled && !has_events) timeline.process_name = report.sampled->program;
  return {};
}

// The end of the program, and what was recorded of it.
void describeRun(const std::vector<Fact>& facts, const Coverage& coverage, ProcessId process,
                 Report& report) {
  report.end = programEnd(facts);
  report.coverage = coverage.level(process);
  if (report.coverage == "library calls") report.logged_library = coverage.libraryOf(process);
}

void addNotes(const Trace& trace, const Timeline& timeline, const Iterations& iterations,
              bool has_device_work, Report& report) {
  auto& notes = report.notes;
  if (const auto changes = trace.meta(meta::kSimulatedChanges)) {
    notes.push_back(fmt::format(
        "The times of this trace are simulated, not recorded; changes to the recorded program: {}.",
        *changes));
  }
  if (!report.trace_complete) {
    notes.push_back(
        "The trace is incomplete: the recording was killed or still runs. This report describes the "
        "events written until then.");
  }
  for (const auto& loss : report.losses) {
    notes.push_back(fmt::format("{} event{} missing between {} and {}: {}.", loss.count,
                                loss.count == 1 ? " is" : "s are",
                                showDuration(static_cast<double>(loss.from_ns)),
                                showDuration(static_cast<double>(loss.to_ns)), loss.reason));
  }
  if (!iterations.note.empty()) notes.push_back(iterations.note);
  if (timeline.operators == 0 && !has_device_work) {
    notes.push_back("No operators were recorded, so it is unknown where the program's time goes.");
  }
  if (timeline.other_processes > 0) {
    notes.push_back(fmt::format("{} other process{} ran operators too; this report is about '{}'.",
                                timeline.other_processes, timeline.other_processes == 1 ? "" : "es",
                                timeline.process_name));
  }
}

Status runRules(const rules::RuleSet& set, Trace& trace, const AnalyzeOptions& options,
                const Reading& reading, Report& report, Stopwatch& watch) {
  const auto settings = settingStates(trace);
  std::vector<rules::Claim> claims;
  for (const auto& rule : set.rules) {
    auto result = rules::runRule(rule, trace, settings, options.evidence_rows);
    watch.lap("rule " + rule.id);
    PITWALL_TRY(reading.checkCancelled());
    auto outcome = PITWALL_TRY(result);
    if (auto* claim = std::get_if<rules::Claim>(&outcome)) {
      claims.push_back(std::move(*claim));
    } else if (auto* abstention = std::get_if<Abstention>(&outcome)) {
      report.abstentions.push_back(std::move(*abstention));
    } else {
      report.silent.push_back(rule.id);
    }
  }
  const auto disturbance = PITWALL_TRY(rules::disturbanceOf(trace));
  rules::withhold(disturbance, claims);
  report.findings = rules::shareBudget(std::move(claims), report.breakdown);
  rules::putFirst(report.findings);
  return rules::takeSavedStatuses(trace, report.findings);
}

}  // namespace

Result<Report> analyzeTrace(Trace& trace, const AnalyzeOptions& options) {
  Report report;
  Stopwatch watch(report);
  const Reading reading{options.events_at_once, options.cancel};
  const auto set =
      PITWALL_TRY(options.with_rules ? rules::loadRules(options) : Result<rules::RuleSet>(rules::RuleSet{}));
  watch.lap("reading the rules");
  auto gathered = PITWALL_TRY(gatherActivity(trace, reading));
  Timeline timeline = timelineOf(trace, gathered);
  const bool has_events = timeline.end_ns > timeline.begin_ns;
  describeWithoutEvents(trace, timeline);
  watch.lap("analysis events");
  report.trace_path = trace.path();
  report.trace_complete = trace.isComplete();
  report.losses.assign(trace.losses().begin(), trace.losses().end());
  TimeChunkReader chunks(trace, gathered, timeline.process, reading);
  TimeChunkPass pass =
      PITWALL_TRY(runTimeChunkPass(trace, timeline, chunks, [&watch](const char* part) { watch.lap(part); }));
  report.breakdown = summarizeBreakdown(pass.iterations, pass.times);
  watch.lap("analysis breakdown");
  compareWithRoofline(machineRoofline(trace), pass.operators);
  report.timeline_kind = timelineKindOf(trace);
  report.breakdown.recorded_ns = timeline.end_ns - timeline.begin_ns;
  if (report.timeline_kind == "sums only") countExecutions(trace, gathered, pass.operators);
  report.operator_order = pass.operators.order;
  for (const auto& statistics : pass.operators.rows) report.operators.push_back(statistics.row);
  report.device_outside_operators_ns = pass.operators.device_outside_ns;
  report.store_exchanges = pass.operators.exchanges;
  report.store_exchange_ns = pass.operators.exchange_ns;
  summarizeDevices(pass.devices, report.breakdown);
  addNotes(trace, timeline, pass.iterations, !pass.devices.all.empty(), report);
  if (timeline.operators == 0 && pass.devices.all.empty()) {
    PITWALL_TRY(addSampledUse(trace, has_events, timeline, report));
  }
  addContext(trace, timeline, report);

  const Context context{
      gathered,        chunks,          pass.devices,     timeline,
      pass.iterations, pass.executions, report.breakdown, pass.operators.order == OperatorOrder::deviceTime};
  PITWALL_TRY(writeDeviceTables(trace, context, pass, watch));
  report.kernels = PITWALL_TRY(kernelRows(trace));
  if (report.timeline_kind == "sums only") {
    report.critical_path.missing = "the times at which events began: it holds sums only";
  } else {
    report.critical_path = PITWALL_TRY(criticalPathSummary(trace));
  }
  PITWALL_TRY(writeSampled(trace, pass.iterations.all));
  watch.lap("analysis samples");
  report.code = PITWALL_TRY(writeCode(trace));
  watch.lap("analysis code");
  auto coverage = PITWALL_TRY(coverageOf(trace, gathered));
  PITWALL_TRY(writeCoverage(trace, coverage));
  watch.lap("analysis coverage");
  auto facts = summarize(trace, timeline, pass.iterations, report.breakdown, pass.operators, coverage);
  addDataFacts(trace, context, facts);
  addDeviceFacts(trace, context, facts);
  addEndFacts(trace, facts);
  addHostFacts(trace, facts);
  addRunFacts(trace, facts);
  describeRun(facts, coverage, timeline.process, report);
  PITWALL_TRY(writeTables(trace, {pass.iterations.all, pass.times, report.breakdown, pass.operators, facts}));
  watch.lap("analysis tables");
  PITWALL_TRY(writeTrials(trace, timeline, pass.iterations, options.trials, reading, report));
  watch.lap("analysis trials");
  PITWALL_TRY(runRules(set, trace, options, reading, report, watch));
  return report;
}

}  // namespace pitwall
