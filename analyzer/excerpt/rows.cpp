#include "analyzer/excerpt/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "db/track_titles.h"
#include "db/try.h"

namespace pitwall::excerpt {
namespace {

constexpr int kActivityParts = 480;

struct Candidate {
  TrackId track;
  bool is_evidence = false, is_on_path = false;
  double home_events = 0, events = 0;
};

std::string deviceOf(const Trace& trace, const TrackInfo& info) {
  return info.device ? deviceTitle(trace.devices()[info.device.value - 1]) : "";
}

// What all rows have in common.
struct Titles {
  explicit Titles(const Trace& trace) : threads(threadTitles(trace)) {
    const auto processes = trace.processes();
    several_ranks = std::any_of(processes.begin(), processes.end(), [&](const ProcessInfo& process) {
      return process.rank != processes.front().rank;
    });
  }
  std::vector<std::string> threads;
  bool several_ranks = false;
};

ReportTimeline::Row rowOf(const Trace& trace, const Titles& titles, TrackId track) {
  const TrackInfo& info = trace.tracks()[track.value - 1];
  ReportTimeline::Row row;
  row.title = info.name;
  if (row.title.empty() && info.thread) row.title = titles.threads[info.thread.value - 1];
  const std::string device = deviceOf(trace, info);
  if (info.kind == TrackKind::stream && !device.empty() && row.title.find(device) == std::string::npos)
    row.title = row.title.empty() ? device : device + " " + row.title;
  if (row.title.empty()) row.title = fmt::format("track {}", track.value);
  if (info.process && trace.processes().size() > 1)
    row.group = processTitle(trace.processes()[info.process.value - 1], titles.several_ranks);
  return row;
}

// By how often it has events; rows that the reader must see come first.
Result<std::vector<Candidate>> candidates(Trace& trace, const Report& report,
                                          const ReportTimeline& timeline) {
  const SqlParameter window[] = {{":begin", timeline.home_ns}, {":end", timeline.home_end_ns}};
  const auto counts = PITWALL_TRY(trace.query(
      "SELECT track_id, total(event_count), total(CASE WHEN last_end_ns >= :begin AND first_start_ns < :end "
      "THEN event_count ELSE 0 END) FROM event_chunk GROUP BY track_id",
      window));
  const auto on_path = PITWALL_TRY(
      trace.query("SELECT DISTINCT track_id FROM analysis_critical_step WHERE track_id IS NOT NULL"));
  std::set<std::int64_t> path;
  for (const auto& row : on_path.rows) path.insert(std::get<std::int64_t>(row[0]));
  std::vector<const EvidencePlace*> places;  // that name a row
  for (const Finding& finding : report.findings) {
    for (const EvidencePlace& place : finding.evidence.places)
      if (!place.device.empty() || !place.thread.empty()) places.push_back(&place);
  }
  std::vector<Candidate> all;
  for (const auto& row : counts.rows) {
    const auto id = std::get<std::int64_t>(row[0]);
    if (id < 1 || static_cast<std::size_t>(id) > trace.tracks().size()) continue;
    Candidate candidate{TrackId{static_cast<std::uint32_t>(id)}};
    if (trace.tracks()[candidate.track.value - 1].kind == TrackKind::counter) continue;
    candidate.events = std::get<double>(row[1]);
    candidate.home_events = std::get<double>(row[2]);
    candidate.is_on_path = path.contains(id);
    candidate.is_evidence = std::any_of(places.begin(), places.end(), [&](const EvidencePlace* place) {
      return isOn(*place, trace, candidate.track);
    });
    all.push_back(candidate);
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(b.is_on_path, b.is_evidence, b.home_events, b.events, a.track) <
           std::tie(a.is_on_path, a.is_evidence, a.home_events, a.events, b.track);
  });
  return all;
}

Status addActivity(Trace& trace, TrackId track, const ReportTimeline& timeline, ReportTimeline::Row& row) {
  const auto bins = PITWALL_TRY(trace.eventBins({.track = track,
                                                 .from_ns = timeline.begin_ns,
                                                 .to_ns = timeline.end_ns,
                                                 .bins = kActivityParts,
                                                 .depth = 0}));
  row.activity.assign(kActivityParts, 0);
  const double width = static_cast<double>(timeline.end_ns - timeline.begin_ns) / kActivityParts;
  for (const EventBin& bin : bins) {
    if (bin.bin < 0 || bin.bin >= kActivityParts) continue;
    // What runs at all is visible.
    const double share = static_cast<double>(bin.total_ns) / width;
    row.activity[static_cast<std::size_t>(bin.bin)] = std::clamp(share, 0.05, 1.0);
  }
  return {};
}

}  // namespace

bool isOn(const EvidencePlace& place, const Trace& trace, TrackId track) {
  const TrackInfo& info = trace.tracks()[track.value - 1];
  if (!place.device.empty() && (info.kind != TrackKind::stream || deviceOf(trace, info) != place.device))
    return false;
  if (!place.thread.empty()) {
    if (info.kind != TrackKind::thread) return false;
    const bool named = info.thread && trace.threads()[info.thread.value - 1].name == place.thread;
    if (!named && info.name != place.thread) return false;
  }
  if (!place.pid && !place.rank) return true;
  if (!info.process) return false;
  const ProcessInfo& process = trace.processes()[info.process.value - 1];
  return (!place.pid || process.pid == *place.pid) && (!place.rank || process.rank == *place.rank);
}

Result<ChosenRows> chooseRows(Trace& trace, const Report& report, const ReportTimeline& timeline,
                              const ReportTimelineLimits& limits) {
  auto all = PITWALL_TRY(candidates(trace, report, timeline));
  ChosenRows chosen;
  chosen.left_out = static_cast<std::int64_t>(all.size() - std::min(all.size(), limits.rows));
  all.resize(std::min(all.size(), limits.rows));
  const auto order = [&](const Candidate& candidate) {
    const TrackInfo& info = trace.tracks()[candidate.track.value - 1];
    const bool is_stream = info.kind == TrackKind::stream;
    return std::tuple(info.process.value, is_stream ? 0 : 1, is_stream ? info.device.value : 0,
                      -candidate.home_events, candidate.track.value);
  };
  std::sort(all.begin(), all.end(),
            [&](const Candidate& a, const Candidate& b) { return order(a) < order(b); });
  const Titles titles(trace);
  for (const Candidate& candidate : all) {
    chosen.tracks.push_back(candidate.track);
    chosen.rows.push_back(rowOf(trace, titles, candidate.track));
    PITWALL_TRY(addActivity(trace, candidate.track, timeline, chosen.rows.back()));
  }
  return chosen;
}

}  // namespace pitwall::excerpt
