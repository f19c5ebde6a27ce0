// The results of an analysis: breakdown, operator table, findings. Data only; analyzer/emit turns it into
// text, JSON and environment files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/event.h"
#include "db/units.h"

namespace pitwall {

enum class Severity : std::uint8_t { info, low, medium, high };
const char* toString(Severity severity);

// The confidence of a prediction; the factor weights the middle of its interval.
enum class Confidence : std::uint8_t { low, medium, high };
const char* toString(Confidence confidence);
constexpr double factorOf(Confidence confidence) {
  switch (confidence) {
    case Confidence::low: return 0.3;
    case Confidence::medium: return 0.7;
    case Confidence::high: return 1;
  }
  return 0;
}

// One number for a predicted interval of shares of wall time, 0 <= low <= high <= 1: its middle as a speed, the
// geometric mean of both ends' speeds. Gains are ratios, and limits of the machine are reached more often than the
// cautious ends: docs/truth.md has how far it is from what is measured.
double estimatedGain(double low, double high);

// Where an iteration's wall time goes. Categories are disjoint and sum to wall_ns; `unattributed` is time
// that no category explains.
struct TimeShare {
  // "forward", "backward", "update", "other operators", "communication", "data wait", "engine overhead",
  // "idle" (nothing queued: the program's own code between its calls), "unattributed"; defined in
  // analyzer/analysis/breakdown.h. Of a trace with device work those of analyzer/analysis/devices.h.
  std::string category;
  TimeNs total_ns = 0;  // over all steady iterations
  double share = 0;     // of wall, 0..1
};

struct Breakdown {
  std::int64_t iterations = 0;          // steady ones
  std::int64_t skipped_iterations = 0;  // warm-up, last and outliers
  TimeNs wall_ns = 0;                   // sum of the steady iterations
  TimeNs median_iteration_ns = 0;
  double items_per_second = 0;   // 0 = items unknown
  std::string iteration_source;  // "marks", "repeating sequence", "whole trace"
  std::vector<TimeShare> shares;
  int devices = 0;         // over which times are summed; 0 = wall time of the program
  TimeNs recorded_ns = 0;  // from the first event to the last, also outside iterations; 0 = unknown

  // Of wall, 0 for a category that is not there.
  double share(std::string_view category) const {
    for (const auto& part : shares) {
      if (part.category == category) return part.share;
    }
    return 0;
  }
};

// What a report orders operators by: the time that they take themselves, or, where device work of any was
// recorded, the device time that they launch.
enum class OperatorOrder : std::uint8_t { selfTime, deviceTime };

struct OperatorRow {
  std::string title;  // layer and type, for people: "conv1 Convolution"; the phase distinguishes backward
                      // from forward
  std::string name, layer, phase, shapes;
  std::int64_t count = 0;
  TimeNs total_ns = 0, mean_ns = 0, p50_ns = 0, p99_ns = 0;
  double share = 0;            // self_ns of all operators' self_ns
  double flop_per_second = 0;  // 0 = FLOP unknown
  double bytes_per_second = 0;
  // The larger of both against what the machine can do, 0..1 and above where caches feed it; 0 = one of the
  // two is unknown.
  double roofline_share = 0;
  TimeNs self_ns = 0;    // without operators that run within it on the same thread
  TimeNs device_ns = 0;  // of device work that it launched itself, not an operator within it

  TimeNs orderedBy(OperatorOrder order) const {
    return order == OperatorOrder::deviceTime ? device_ns : self_ns;
  }
};

// Device work of one name, over the same time window as the breakdown.
struct KernelRow {
  std::string name, work;  // "computation", "communication", "copy"
  std::int64_t count = 0;
  TimeNs total_ns = 0, mean_ns = 0, max_ns = 0;
  double share = 0;  // of all device work
};

// What is on the critical path under one name.
struct PathRow {
  std::string title, phase;     // of an operator as in OperatorRow, else the event's name
  std::string part;             // "operator", "call", "kernel", ...: analyzer/critical_path/path.h
  std::int64_t executions = 0;  // in the window, on the path or not; 0 = a gap
  TimeNs on_path_ns = 0;
  double share = 0;          // of the window
  TimeNs slack_mean_ns = 0;  // how much later one could have ended without delaying the end
};

// The steps that determine the end of a time window, back to its beginning: a sample of steady
// iterations, otherwise a part of limited size. The four parts sum to span_ns, and so do the rows.
struct PathSummary {
  TimeNs begin_ns = 0, span_ns = 0;  // 0 = no path: the trace holds no events
  TimeNs device_ns = 0, host_ns = 0, delay_ns = 0, nothing_ns = 0;
  std::vector<PathRow> rows;  // by time on the path; without those that are not on it
  std::string missing;        // what the path would need and the trace does not have
};

// A setting or tunable that a finding proposes.
struct Proposal {
  std::string name;     // as the program reads it: "OMP_NUM_THREADS", "PITWALL_TUNE_batch_size"
  std::string current;  // value in effect
  std::string proposed;
  std::string reason;     // one line
  bool user_set = false;  // the user set it on purpose: shown, not overridden
};

enum class FindingStatus : std::uint8_t { notTested, confirmed, refuted };
const char* toString(FindingStatus status);  // "not tested", ...

// Where on the timeline a row of evidence is, as far as the row says it.
struct EvidencePlace {
  std::optional<TimeNs> start_ns, dur_ns;  // a time range, since the trace's start
  std::int64_t op = 0;                     // executions of this operator (OperatorId); 0 = none
  std::string name;                        // events of this name, where there is neither range nor operator
  std::string device, thread;              // the rows it is on: "gpu 0"; name of a thread; empty = any
  std::string counter;                     // the counter's row, by what its name ends in; empty = none
  std::optional<std::int64_t> rank, pid;   // the process; nullopt = any

  bool known() const {
    return start_ns.has_value() || op != 0 || !name.empty() || !device.empty() || !thread.empty() ||
           !counter.empty() || pid;
  }
};

struct Finding {
  std::string id;  // rule id, stable: "batch/can-grow"
  std::string title;
  Severity severity = Severity::info;
  std::string verdict;  // one sentence with its numbers
  std::string action;   // what to do, where no setting is proposed; may be empty
  struct Evidence {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;  // as many as are to be shown; computed on all
    std::int64_t total_rows = 0;
    std::vector<EvidencePlace> places = {};  // of each of `rows`; empty = none is known
  } evidence;
  struct Sql {
    std::string measure, evidence;  // evidence may be empty
  } sql;                            // what found it, thresholds filled in, for `pitwall query`
  std::vector<Proposal> proposals;
  double gain_low = 0, gain_high = 0;  // predicted share of wall time removed, 0..1, after the shared budget
  std::string gain_method;             // how it was predicted
  std::string gain_limit;              // why less than predicted is left; empty = nothing was cut
  Confidence confidence = Confidence::medium;  // in the gain
  double expected_gain = 0;  // the middle of the interval, at most the estimate, times factorOf(confidence)
  std::optional<double> cost_share;  // of wall time, 0..1: what it costs, where no gain is predicted
  std::string cost;                  // the same or another cost in words; empty = unknown
  int first = 0;                     // 1, 2: about the whole run, to be read before all others; 0 = it is not
  std::string guard;                 // what would make it wrong
  FindingStatus status = FindingStatus::notTested;
};

// A rule that abstained.
struct Abstention {
  std::string id, title;
  std::string reason;  // what is missing and what to record
};

// How the recorded program ended, as far as it was recorded.
struct ProgramEnd {
  std::optional<std::int64_t> exit_code, exit_signal;  // at most one of both
  bool out_of_memory = false;                          // the kernel killed it for lack of memory
  bool too_short = false;  // it ended too early to advise on its speed: such rules abstain
  TimeNs ran_ns = 0;       // 0 = unknown
};

// CPU use of the process that used most of it, from samples.
struct SampledUse {
  std::string program;
  double cpus = 0;  // of the busiest process, on average over span_ns
  TimeNs cpu_ns = 0, span_ns = 0;
  int usable_cpus = 0;  // 0 = not recorded
  int processes = 1;    // that use the CPUs, not counting helpers
  double all_cpus = 0;  // of these together, over the busiest one's time
};

// A function on sampled stacks. Times are of all its threads; self times leave out what it calls.
struct CodeRow {
  std::string function, file, language;
  std::int64_t line = 0;         // where most of its own time is; 0 = unknown
  TimeNs self_ns = 0;            // running_ns + lock_ns + waiting_ns
  TimeNs running_ns = 0;         // on a CPU, or ready for one
  TimeNs lock_ns = 0;            // waiting for Python's interpreter lock
  TimeNs waiting_ns = 0;         // waiting otherwise: of the first thread of the program's first process only
  TimeNs total_ns = 0;           // within it and what it calls, of the same states
  TimeNs outside_events_ns = 0;  // of self_ns: while the thread is in no recorded operator, call or wait
  std::string wait;              // what it waits for most; empty = it does not

  TimeNs busyNs() const { return running_ns + lock_ns; }
};

// A line of the main script, or of a process's outermost Python function, before the first iteration.
struct StartupRow {
  std::string function, file;
  std::int64_t line = 0;
  TimeNs total_ns = 0;
  bool imports = false;  // most of that time is within Python's import
};

// A function, or a state, below those that called it: of the same stacks as CodeRow.
struct CodeNode {
  std::string name, language;  // as in db/event.h
  std::size_t parent = 0;      // place of the caller; [0] is the root, without a name
  TimeNs total_ns = 0;
};

// Where the program's first thread waits: the innermost function that belongs to no Python library.
struct CodeWait {
  std::string function, file;
  std::int64_t line = 0;
  std::string state;  // as in analysis_code
  TimeNs total_ns = 0;
};

struct CodeReport {
  std::vector<CodeRow> rows;        // by self_ns
  TimeNs self_ns = 0;               // of all rows
  TimeNs busy_ns = 0;               // of self_ns: on a CPU or waiting for the interpreter lock
  std::int64_t samples = 0;         // of which the rows are
  std::vector<StartupRow> startup;  // of the process that took longest, by time
  TimeNs startup_ns = 0;            // of that process, sampled before the first iteration
  std::int64_t startup_processes = 0;
  TimeNs first_iteration_ns =
      0;                       // when the first iteration began, since the trace's start; 0 = no iterations
  std::vector<CodeNode> tree;  // callers before what they call
  CodeWait longest_wait;       // of all; total_ns 0 = none
  TimeNs waiting_ns = 0;       // of that thread
};

struct Report {
  std::string trace_path;
  bool trace_complete = true;
  std::vector<std::pair<std::string, std::string>> context;  // what ran where: "engine" -> "NaiveEngine"
  std::vector<Loss> losses;
  ProgramEnd end;
  std::string coverage;               // what was recorded: analysis_summary.coverage; empty = unknown
  std::string logged_library;         // of which only the calls were recorded: "oneDNN"
  std::optional<SampledUse> sampled;  // where no operators and no work of devices were recorded
  Breakdown breakdown;
  OperatorOrder operator_order = OperatorOrder::selfTime;
  std::vector<OperatorRow> operators;      // by that time
  TimeNs device_outside_operators_ns = 0;  // device work that none of them launched, as far as is recorded
  // Of key-value stores between processes, not among the operators: they take no thread's time.
  std::int64_t store_exchanges = 0;
  TimeNs store_exchange_ns = 0;
  std::vector<KernelRow> kernels;  // by total time, of all devices together; copies too
  std::string
      timeline_kind;  // "order only", "sums only", "serialised kernels"; empty = events with their times
  PathSummary critical_path;
  CodeReport code;
  std::vector<Finding> findings;  // by severity, then by expected gain or cost
  std::vector<Abstention> abstentions;
  std::vector<std::string> silent;  // ids of rules that found nothing
  std::vector<std::string> notes;   // data quality, in words
  // CPU time of each analysis and rule, in the order in which they ran: "analysis devices", "rule
  // input/bound".
  std::vector<std::pair<std::string, TimeNs>> timings;
};

}  // namespace pitwall
