#include "analyzer/simulate/read_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/job_ranks.h"
#include "analyzer/analysis/loading_cpu.h"
#include "analyzer/dependencies/device_graph.h"
#include "analyzer/dependencies/operator_graph.h"
#include "analyzer/simulate/device_tasks.h"
#include "analyzer/simulate/operator_tasks.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

using analysis::Activity;
using analysis::Interval;
using analysis::Iteration;
using analysis::IterationRole;
using analysis::Iterations;
using analysis::Timeline;

constexpr double kMostUnexplained = 0.1;  // of the device work

std::int64_t metaNumber(const Trace& trace, const char* key) {
  return std::strtoll(trace.meta(key).value_or("0").c_str(), nullptr, 10);
}

// The iterations that are replayed: from the one before the first steady one, whose work may still run then, to the
// last steady one; of many the middle.
struct Part {
  std::vector<TimeNs> marks_ns;
  std::vector<std::uint32_t> steady;
};

Part partOf(const Iterations& iterations, double events_per_ns, std::size_t most) {
  const auto& all = iterations.all;
  const bool any_steady = std::any_of(all.begin(), all.end(),
                                      [](const Iteration& it) { return it.role == IterationRole::steady; });
  const auto counts = [any_steady](const Iteration& it) {
    return !any_steady || it.role == IterationRole::steady;
  };
  std::size_t first = 0, last = all.size();
  while (first < last && !counts(all[first])) ++first;
  while (last > first && !counts(all[last - 1])) --last;
  const auto events = [&](std::size_t from, std::size_t to) {
    return events_per_ns * static_cast<double>(all[to - 1].end_ns - all[from].start_ns);
  };
  while (last - first > 3 && events(first, last) > static_cast<double>(most)) {
    const auto fewer = std::max<std::size_t>(1, (last - first) / 16);
    first += fewer, last -= std::min(fewer, last - first - 1);
  }
  Part part;
  if (first > 0) --first;
  for (std::size_t i = first; i < last; ++i) {
    const auto& iteration = all[i];
    if (part.marks_ns.empty() || part.marks_ns.back() < iteration.start_ns)
      part.marks_ns.push_back(iteration.start_ns);
    if (counts(iteration)) part.steady.push_back(static_cast<std::uint32_t>(part.marks_ns.size() - 1));
    part.marks_ns.push_back(iteration.end_ns);
  }
  return part;
}

double eventRate(const Trace& trace, const Activity& activity, ProcessId process) {
  TimeNs begin = INT64_MAX, end = INT64_MIN;
  std::int64_t events = 0;
  for (const auto& track : activity.tracks) {
    const auto owner = trace.tracks()[track.id.value - 1].process;
    if ((owner && owner != process) || track.events == 0) continue;
    begin = std::min(begin, track.first_ns);
    end = std::max(end, track.last_ns);
    events += track.events;
  }
  return end > begin ? static_cast<double>(events) / static_cast<double>(end - begin) : 0;
}

std::string whyNot(const Trace& trace, const Timeline& timeline, const Part& part) {
  const std::string kind = analysis::timelineKindOf(trace);
  if (kind == "serialised kernels")
    return "kernels were made to run one after the other, to be counted in hardware; record without "
           "PITWALL_RECORD_GPU=counters";
  if (kind == "sums only") return "the trace holds sums only, no times at which events began";
  if (kind == "order only") return "the trace holds the order of events only, not when each began";
  if (part.steady.empty()) return "the trace has no events";
  for (const auto& loss : timeline.losses) {
    if (loss.end_ns > part.marks_ns.front() && loss.start_ns < part.marks_ns.back())
      return "events are missing in the iterations that would be replayed; record with larger buffers";
  }
  return {};
}

// How batches are made, within the replayed iterations.
Status readMaking(const Recorded& recorded, Program& program) {
  const auto& [trace, activity, timeline, iterations, chunks, most_events] = recorded;
  auto& making = program.making;
  const auto& marks = program.tasks.marks_ns;
  TimeNs all = 0;
  for (const std::uint32_t mark : program.steady) {
    const TimeNs ns = analysis::covered(analysis::within(timeline.data_waits, marks[mark], marks[mark + 1]));
    making.wait_ns.push_back(ns);
    all += ns;
  }
  if (all == 0) return {};
  making.by = Making::By::unknown;
  bool in_training = false;
  for (const auto& track : activity.tracks) {
    if (trace.tracks()[track.id.value - 1].process != timeline.process) continue;
    const bool trains = track.id == timeline.training_track;
    for (const auto& wait : track.batch_waits)
      in_training |= trains && trace.string(wait.name).find("SingleProcess") != std::string::npos;
    TimeNs until = INT64_MIN;
    std::int64_t made = 0;
    for (const auto& work : track.data_work_list) {
      if (work.end_ns <= until || work.start_ns < marks.front() || work.start_ns >= marks.back()) continue;
      until = work.end_ns;
      ++made;
      if (!trains) making.make_ns.push_back(work.end_ns - work.start_ns);
    }
    if (made > 0 && trains) in_training = true;
    if (made > 0 && !trains) ++making.workers;
  }
  if (making.workers > 0) {
    making.by = Making::By::workers;
  } else if (in_training) {
    making.by = Making::By::training;
    making.make_ns = making.wait_ns;
    const auto cpus = PITWALL_TRY(analysis::cpusWhileWaiting(trace, iterations.all, timeline.data_waits));
    making.cpus = std::min(1.0, cpus.value_or(1));
  }
  for (const auto& tunable : trace.tunables()) {
    if (tunable.name == "prefetch_depth") making.depth = tunable.value;
  }
  return {};
}

void readNames(const Trace& trace, Program& program) {
  program.operators.assign(trace.operatorFacts().begin(), trace.operatorFacts().end());
  for (const auto& node : program.graph.nodes) {
    if (node.name && !program.names.contains(node.name.value))
      program.names.emplace(node.name.value, trace.string(node.name));
  }
}

void readMachine(const Trace& trace, Program& program) {
  program.machine.cpus = metaNumber(trace, meta::kUsableCpus);
  program.machine.threads = std::max<std::int64_t>(1, metaNumber(trace, meta::kOpenMpThreads));
  program.machine.threads_known = metaNumber(trace, meta::kOpenMpThreads) > 0;
  program.machine.roofline = machineRoofline(trace);
}

bool hasDeviceWork(const Trace& trace, const Activity& activity, ProcessId process) {
  return std::any_of(activity.tracks.begin(), activity.tracks.end(), [&](const auto& track) {
    const auto owner = trace.tracks()[track.id.value - 1].process;
    return track.device_work > 0 && (!owner || owner == process);
  });
}

// Device work that waited for something which the trace does not have.
std::size_t startsUnexplained(const analysis::DeviceGraph& devices) {
  const auto& graph = devices.graph;
  std::size_t count = 0;
  for (auto i = devices.first_work; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].asked_on != analysis::Graph::kNone) continue;
    const auto waits = graph.into(i);
    count += std::none_of(waits.begin(), waits.end(), [&](const analysis::Wait& wait) {
      return graph.nodes[i].start_ns - graph.nodes[wait.from].end_ns <= analysis::DeviceGraph::kHandoverNs;
    });
  }
  return count;
}

// Through threads, launches and streams.
Status readDevices(const Recorded& from, const Part& part, Program& program, ReplayCheck& check) {
  const Interval window{part.marks_ns.front(), part.marks_ns.back()};
  auto devices = PITWALL_TRY(analysis::graphOfDevices(from.trace, from.activity, window,
                                                      from.timeline.process, 2 * from.most_events));
  const auto& read = devices.graph.window;
  if (read.start_ns != window.start_ns || read.end_ns != window.end_ns) {
    check.why = "its iterations hold too many events";
  } else if (devices.graph.nodes.empty()) {
    check.why = "the trace has no operators, calls or device work in its iterations";
  } else if (devices.first_work == 0) {
    check.why =
        "the trace has no calls or operators of host threads, so what an idle device waited for is unknown";
  }
  const auto work = devices.graph.nodes.size() - devices.first_work, unexplained = startsUnexplained(devices);
  if (check.why.empty() && static_cast<double>(unexplained) > kMostUnexplained * static_cast<double>(work)) {
    check.why = fmt::format(
        "{} of its {} kernels and copies have no recorded launch and follow no other work at once, so what "
        "they waited for "
        "is unknown",
        unexplained, work);
  }
  if (!check.why.empty()) return {};
  program.tasks =
      tasksOfDevices(devices, {from.timeline.training_track, from.timeline.data_waits}, part.marks_ns);
  program.graph = std::move(devices.graph);
  return {};
}

}  // namespace

Status readProgram(const Recorded& recorded, Program& program, ReplayCheck& check) {
  const auto& [trace, activity, timeline, iterations, chunks, most_events] = recorded;
  const auto part = partOf(iterations, eventRate(trace, activity, timeline.process), most_events);
  check.iteration_source = iterations.source;
  check.iterations = static_cast<std::int64_t>(part.steady.size());
  check.why = whyNot(trace, timeline, part);
  if (!check.why.empty()) return {};
  const Interval window{part.marks_ns.front(), part.marks_ns.back()};
  program.steady = part.steady;
  program.training_track = timeline.training_track;
  program.process = timeline.process;
  std::vector<analysis::OperatorInterval> operators;
  if (!hasDeviceWork(trace, activity, timeline.process))
    operators = PITWALL_TRY(chunks.operatorsBetween(window.start_ns, window.end_ns));
  program.of_engine = analysis::tellsOfAnEngine(operators);
  if (program.of_engine) {
    program.graph = PITWALL_TRY(analysis::graphOfOperators(trace, window, std::move(operators)));
    program.tasks = tasksOfOperators(
        program.graph, {timeline.training_track, timeline.data_waits, timeline.engine_waits}, part.marks_ns);
    program.exchanges = analysis::united(timeline.communication);
  } else {
    std::vector<analysis::OperatorInterval>().swap(operators);
    PITWALL_TRY(readDevices(recorded, part, program, check));
  }
  check.events = static_cast<std::int64_t>(program.graph.nodes.size());
  if (!check.why.empty()) return {};
  if (!timeline.bulks.empty()) {
    program.operators_per_bulk =
        static_cast<double>(timeline.operators) / static_cast<double>(timeline.bulks.size());
  }
  PITWALL_TRY(readMaking(recorded, program));
  readNames(trace, program);
  readMachine(trace, program);
  program.ranks = analysis::ranksOfJob(trace);
  return {};
}

}  // namespace pitwall::simulate
