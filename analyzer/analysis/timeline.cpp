#include "analyzer/analysis/timeline.h"

#include <algorithm>
#include <map>

namespace pitwall::analysis {
namespace {

struct LoadedTrack {
  TrackInfo info;
  std::vector<Event> events;
};

bool isDeviceWork(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::communication;
}

Result<std::vector<LoadedTrack>> loadTracks(Trace& trace) {
  std::vector<LoadedTrack> loaded;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind == TrackKind::counter) continue;
    auto events = trace.events(TrackId{i + 1});
    if (!events.has_value()) return fail(events.error());
    loaded.push_back({tracks[i], std::move(events).value()});
  }
  return loaded;
}

std::int64_t countKind(const LoadedTrack& track, EventKind kind) {
  return std::count_if(track.events.begin(), track.events.end(),
                       [kind](const Event& event) { return event.kind == kind; });
}

// The process with most operators (else most events), and how many others ran operators.
void chooseProcess(Trace& trace, const std::vector<LoadedTrack>& tracks, Timeline& timeline) {
  std::map<ProcessId, std::pair<std::int64_t, std::int64_t>> weights;  // operators, events
  for (const auto& track : tracks) {
    auto& weight = weights[track.info.process];
    weight.first += countKind(track, EventKind::operatorRun);
    weight.second += static_cast<std::int64_t>(track.events.size());
  }
  std::pair<std::int64_t, std::int64_t> best{-1, -1};
  int with_operators = 0;
  for (const auto& [process, weight] : weights) {
    if (weight.first > 0) ++with_operators;
    if (weight > best) best = weight, timeline.process = process;
  }
  timeline.other_processes = std::max(0, with_operators - 1);
  const auto processes = trace.processes();
  if (timeline.process && timeline.process.value <= processes.size()) {
    timeline.process_name = processes[timeline.process.value - 1].name;
  }
}

// The thread that trains: the one that waits for data; else the one called "main"; else the one that waits
// for operators. -1 when none can be told.
int trainingTrack(Trace& trace, const std::vector<LoadedTrack>& tracks, ProcessId process) {
  int best = -1;
  std::int64_t best_score = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const auto& track = tracks[i];
    if (track.info.process != process || track.info.kind != TrackKind::thread) continue;
    const auto thread = track.info.thread;
    const bool is_main =
        thread && thread.value <= trace.threads().size() && trace.threads()[thread.value - 1].name == "main";
    const std::int64_t score = countKind(track, EventKind::dataWait) * 1'000'000 + (is_main ? 500'000 : 0) +
                               std::min<std::int64_t>(countKind(track, EventKind::wait), 400'000);
    if (score > best_score) best_score = score, best = static_cast<int>(i);
  }
  return best;
}

void addEvent(const Event& event, bool in_training_thread, Timeline& timeline) {
  const TimeNs end = event.start_ns + event.dur_ns;
  switch (event.kind) {
    case EventKind::operatorRun:
      timeline.operators.push_back(
          {event.start_ns, end, std::min(event.pushed_ns, event.start_ns), event.correlation, event.op});
      break;
    case EventKind::bulk: timeline.bulks.push_back({event.start_ns, end}); break;
    case EventKind::dataWait:
      if (in_training_thread) timeline.data_waits.push_back({event.start_ns, end});
      break;
    case EventKind::wait:
      if (in_training_thread) timeline.engine_waits.push_back({event.start_ns, end});
      break;
    case EventKind::dataWork:
      timeline.data_work_ns += event.dur_ns;
      if (in_training_thread) timeline.data_work_in_training_ns += event.dur_ns;
      break;
    case EventKind::recorder: timeline.recorder_ns += event.dur_ns; return;
    default: break;
  }
  timeline.begin_ns = std::min(timeline.begin_ns, event.start_ns);
  timeline.end_ns = std::max(timeline.end_ns, end);
}

void addLosses(Trace& trace, Timeline& timeline) {
  for (const auto& loss : trace.losses()) {
    timeline.lost_events += loss.count;
    const bool ours = !loss.track || loss.track.value > trace.tracks().size() ||
                      trace.tracks()[loss.track.value - 1].process == timeline.process;
    if (ours && loss.to_ns > loss.from_ns) timeline.losses.push_back({loss.from_ns, loss.to_ns});
  }
}

}  // namespace

Result<Timeline> loadTimeline(Trace& trace) {
  auto loaded = loadTracks(trace);
  if (!loaded.has_value()) return fail(loaded.error());
  auto& tracks = loaded.value();

  Timeline timeline;
  chooseProcess(trace, tracks, timeline);
  const int training = trainingTrack(trace, tracks, timeline.process);
  timeline.begin_ns = INT64_MAX;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    auto& track = tracks[i];
    if (track.info.process != timeline.process) continue;
    const bool device = std::any_of(track.events.begin(), track.events.end(),
                                    [](const Event& event) { return isDeviceWork(event.kind); });
    if (device || countKind(track, EventKind::operatorRun) > 0) ++timeline.operator_tracks;
    if (countKind(track, EventKind::dataWork) > 0) ++timeline.data_work_tracks;
    for (const auto& event : track.events) addEvent(event, static_cast<int>(i) == training, timeline);
    track.events = {};  // the flat arrays are enough; a trace may be large
  }
  if (timeline.begin_ns == INT64_MAX) timeline.begin_ns = 0;
  std::stable_sort(timeline.operators.begin(), timeline.operators.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  addLosses(trace, timeline);
  return timeline;
}

}  // namespace pitwall::analysis
