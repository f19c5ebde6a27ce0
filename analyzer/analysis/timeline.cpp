#include "analyzer/analysis/timeline.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/store_operators.h"
#include "db/library_log.h"

namespace pitwall::analysis {
namespace {

// Of the processes that name steps or wait for data (else of all) the one with most operators, else with most events;
// and how many others ran operators. A process that makes batches for another one may run more operators than it, and so may a server
// of a key-value store, which updates for all workers; it is chosen where there is no other.
void chooseProcess(const Trace& trace, const Activity& activity, Timeline& timeline) {
  constexpr std::int64_t kFewestSteps = 3;
  struct Weight {
    std::int64_t steps = 0, data_waits = 0, operators = 0, events = 0;
    bool serves = false;
  };
  std::map<ProcessId, Weight> weights;
  for (const auto& track : activity.tracks) {
    const TrackInfo& info = trace.tracks()[track.id.value - 1];
    Weight& weight = weights[info.process];
    weight.serves |= isStoreServer(info.name);
    weight.data_waits += track.data_waits;
    weight.operators += track.operators;
    weight.events += track.events;
  }
  for (const auto& step : activity.steps) ++weights[trace.tracks()[step.track.value - 1].process].steps;
  const auto rank = [](const Weight& w) {
    const bool is_led = w.steps >= kFewestSteps || w.data_waits > 0;
    return std::tuple(w.operators > 0 && is_led, w.operators > 0 && !w.serves, w.operators, w.events);
  };
  const Weight* best = nullptr;
  int with_operators = 0;
  for (const auto& [process, weight] : weights) {
    if (weight.operators > 0) ++with_operators;
    if (best == nullptr || rank(weight) > rank(*best)) best = &weight, timeline.process = process;
  }
  timeline.other_processes = std::max(0, with_operators - 1);
  const auto processes = trace.processes();
  if (timeline.process && timeline.process.value <= processes.size()) {
    timeline.process_name = processes[timeline.process.value - 1].name;
  }
}

// The thread that trains: the one that waits for data; else the one called "main"; else the one that waits
// for operators. -1 when it is unknown.
int trainingTrack(const Trace& trace, const Activity& activity, ProcessId process) {
  int best = -1;
  std::int64_t best_score = 0;
  for (std::size_t i = 0; i < activity.tracks.size(); ++i) {
    const auto& track = activity.tracks[i];
    const auto& info = trace.tracks()[track.id.value - 1];
    if (info.process != process || info.kind != TrackKind::thread) continue;
    const auto thread = info.thread;
    const bool is_main =
        thread && thread.value <= trace.threads().size() && trace.threads()[thread.value - 1].name == "main";
    const std::int64_t score =
        track.data_waits * 1'000'000 + (is_main ? 500'000 : 0) + std::min<std::int64_t>(track.waits, 400'000);
    if (score > best_score) best_score = score, best = static_cast<int>(i);
  }
  return best;
}

void addTrack(const TrackActivity& track, bool is_training, Timeline& timeline) {
  if (track.device_work > 0 || track.operators > 0) ++timeline.operator_tracks;
  timeline.operators += track.operators;
  timeline.operator_ns += track.operator_ns;
  timeline.operator_after_marks_ns += track.operator_after_marks_ns;
  if (is_training) {
    timeline.training_track = track.id;
    timeline.data_waits = track.data_wait_list;
    timeline.engine_waits = track.wait_list;
  }
  timeline.recorder_ns += track.recorder_ns;
  timeline.bulks.insert(timeline.bulks.end(), track.bulk_list.begin(), track.bulk_list.end());
  timeline.communication.insert(timeline.communication.end(), track.communication_list.begin(),
                                track.communication_list.end());
  if (track.events == 0) return;
  timeline.begin_ns = std::min(timeline.begin_ns, track.first_ns);
  timeline.end_ns = std::max(timeline.end_ns, track.last_ns);
}

void addLosses(const Trace& trace, Timeline& timeline) {
  for (const auto& loss : trace.losses()) {
    timeline.lost_events += loss.count;
    const bool of_process = !loss.track || loss.track.value > trace.tracks().size() ||
                            trace.tracks()[loss.track.value - 1].process == timeline.process;
    if (of_process && loss.to_ns > loss.from_ns) timeline.losses.push_back({loss.from_ns, loss.to_ns});
  }
}

// "iteration 12" without its number: programs that name each step use different names.
std::string_view withoutNumber(std::string_view name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.remove_suffix(1);
  return name;
}

bool isOptimizer(std::string_view name) {
  return name.find("ptimizer") != std::string_view::npos;  // Optimizer.step#SGD.step
}

// Of the ranges on one thread of the process that begin a step, at least three times: one that the program
// names itself rather than the optimizer's, which may come twice a step; then the most frequent; then the
// first.
void addSteps(const Trace& trace, const Activity& activity, Timeline& timeline) {
  std::map<std::pair<std::string_view, TrackId>, std::vector<TimeNs>> by_name;
  for (const auto& step : activity.steps) {
    if (trace.tracks()[step.track.value - 1].process == timeline.process)
      by_name[{withoutNumber(trace.string(step.name)), step.track}].push_back(step.start_ns);
  }
  bool best_is_named = false;
  for (auto& [name, starts] : by_name) {
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    if (starts.size() < 3) continue;
    const bool named = !isOptimizer(name.first);
    const auto rank = [](bool by_program, const std::vector<TimeNs>& list) {
      return std::tuple(by_program, list.size(), -list.front());
    };
    auto& best = timeline.step_starts;
    if (best.empty() || rank(named, starts) > rank(best_is_named, best))
      best = std::move(starts), best_is_named = named;
  }
}

bool seesLibraryCallsOnly(const Trace& trace, const Activity& activity, ProcessId process) {
  bool any = false;
  for (const auto& track : activity.tracks) {
    const auto& info = trace.tracks()[track.id.value - 1];
    if (info.process != process || track.operators == 0) continue;
    if (libraryOfTrack(info.name).empty()) return false;
    any = true;
  }
  return any;
}

}  // namespace

Timeline timelineOf(const Trace& trace, const Activity& activity) {
  Timeline timeline;
  chooseProcess(trace, activity, timeline);
  const int training = trainingTrack(trace, activity, timeline.process);
  timeline.begin_ns = INT64_MAX;
  for (std::size_t i = 0; i < activity.tracks.size(); ++i) {
    if (trace.tracks()[activity.tracks[i].id.value - 1].process != timeline.process) continue;
    addTrack(activity.tracks[i], static_cast<int>(i) == training, timeline);
  }
  if (timeline.begin_ns == INT64_MAX) timeline.begin_ns = 0;
  timeline.library_calls_only = seesLibraryCallsOnly(trace, activity, timeline.process);
  addSteps(trace, activity, timeline);
  addLosses(trace, timeline);
  std::vector<bool> transfers;  // by facts
  for (const auto& facts : trace.operatorFacts())
    transfers.push_back((meaningOf(facts.name, EventKind::operatorRun) & kTransfers) != 0);
  timeline.is_transfer = std::move(transfers);
  return timeline;
}

}  // namespace pitwall::analysis
