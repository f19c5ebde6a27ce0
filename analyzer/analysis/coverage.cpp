#include "analyzer/analysis/coverage.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/library_log.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kCoverageColumns[] = {
    {"process", kInteger, "id", "process number in the trace; 0 = none"},
    {"pid", kInteger, "id", "the operating system's process id; null = unknown"},
    {"name", kText, "", "base name of the executable; empty = unknown"},
    {"what", kText, "",
     "'samples' (CPU use of its threads), 'ranges' (named by the program, NVTX), 'library calls' (the log of "
     "one library: all else that the program did was not seen), 'operators' (every operator of its "
     "framework) or 'devices' (kernels, copies, collectives)"},
    {"library", kText, "", "of library calls: 'oneDNN'; else empty"},
    {"from_ns", kInteger, "ns", "begin of the first, since the trace's start"},
    {"to_ns", kInteger, "ns", "end of the last, since the trace's start"},
    {"events", kInteger, "count", "events of that kind; of samples: sampled threads"},
    {"lost_events", kInteger, "count",
     "events of the process that were lost, of all kinds; null = an unknown number"},
};
constexpr TableDeclaration kCoverageTable{
    "analysis_coverage",
    "A process and a kind of recording: which kinds of events were recorded of it, and when.",
    kCoverageColumns};

namespace {

using Key = std::pair<ProcessId, Recorded>;

class Collector {
 public:
  void add(ProcessId process, Recorded what, TimeNs from_ns, TimeNs to_ns, std::int64_t events,
           std::string_view library = {}) {
    auto [at, is_new] = spans_.try_emplace({process, what});
    CoveredSpan& span = at->second;
    if (is_new) span.process = process, span.what = what, span.from_ns = from_ns, span.to_ns = to_ns;
    span.from_ns = std::min(span.from_ns, from_ns);
    span.to_ns = std::max(span.to_ns, to_ns);
    span.events += events;
    if (!library.empty() && span.library.find(library) == std::string::npos)
      span.library += (span.library.empty() ? "" : ", ") + std::string(library);
  }

  std::vector<CoveredSpan> take() {
    std::vector<CoveredSpan> spans;
    for (auto& [key, span] : spans_) spans.push_back(std::move(span));
    return spans;
  }

 private:
  std::map<Key, CoveredSpan> spans_;
};

void addEvents(const TrackInfo& info, const TrackActivity& track, Collector& collector) {
  if (track.events == 0) return;
  const auto add = [&](Recorded what, std::int64_t events, std::string_view library = {}) {
    if (events > 0) collector.add(info.process, what, track.first_ns, track.last_ns, events, library);
  };
  const std::string_view library = libraryOfTrack(info.name);
  add(library.empty() ? Recorded::operators : Recorded::libraryCalls, track.operators, library);
  if (info.kind == TrackKind::stream) {
    add(Recorded::devices, track.device_work);
  } else {
    add(Recorded::ranges, track.events - track.operators - track.device_work);
  }
}

// A sampled thread: its share of a CPU is its own counter.
Status addSamples(Trace& trace, TrackId id, const TrackInfo& info, Collector& collector) {
  if (info.kind != TrackKind::counter || !info.thread || info.name != "cpu") return {};
  bool any = false;
  TimeNs first = 0, last = 0;
  auto status = trace.visitCounters(id, [&](std::span<const CounterSample> samples) {
    if (samples.empty()) return true;
    if (!any) first = samples.front().time_ns;
    any = true;
    last = samples.back().time_ns;
    return true;
  });
  PITWALL_TRY(status);
  if (any) collector.add(info.process, Recorded::samples, first, last, 1);
  return {};
}

}  // namespace

const char* toString(Recorded what) {
  switch (what) {
    case Recorded::samples: return "samples";
    case Recorded::ranges: return "ranges";
    case Recorded::libraryCalls: return "library calls";
    case Recorded::operators: return "operators";
    case Recorded::devices: return "devices";
  }
  return "samples";
}

bool Coverage::has(ProcessId process, Recorded what) const {
  const bool of_any = what == Recorded::samples || what == Recorded::devices;
  return std::any_of(spans.begin(), spans.end(), [&](const CoveredSpan& span) {
    return span.what == what && (of_any || span.process == process);
  });
}

std::string Coverage::libraryOf(ProcessId process) const {
  for (const auto& span : spans) {
    if (span.process == process && span.what == Recorded::libraryCalls) return span.library;
  }
  return {};
}

std::string Coverage::level(ProcessId process) const {
  const bool operators = has(process, Recorded::operators), devices = has(process, Recorded::devices);
  if (operators && devices) return "operators and devices";
  for (const auto what : {Recorded::operators, Recorded::devices, Recorded::libraryCalls, Recorded::ranges,
                          Recorded::samples}) {
    if (has(process, what)) return toString(what);
  }
  return "none";
}

Result<Coverage> coverageOf(Trace& trace, const Activity& activity) {
  Collector collector;
  const auto tracks = trace.tracks();
  for (const auto& track : activity.tracks) addEvents(tracks[track.id.value - 1], track, collector);
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    PITWALL_TRY(addSamples(trace, TrackId{i + 1}, tracks[i], collector));
  }
  return Coverage{collector.take()};
}

Status writeCoverage(Trace& trace, const Coverage& coverage) {
  TempTable table(kCoverageTable);
  const auto processes = trace.processes();
  for (const auto& span : coverage.spans) {
    std::int64_t lost = 0;
    bool is_number = true;
    for (const auto& loss : trace.losses()) {
      const bool of_process = !loss.track || loss.track.value > trace.tracks().size() ||
                              trace.tracks()[loss.track.value - 1].process == span.process;
      if (!of_process) continue;
      lost += loss.count;
      is_number = is_number && loss.count > 0;
    }
    const bool is_known = span.process && span.process.value <= processes.size();
    const auto& name = is_known ? processes[span.process.value - 1].name : std::string();
    table.row({static_cast<std::int64_t>(span.process.value),
               known(is_known, is_known ? processes[span.process.value - 1].pid : std::int64_t{0}), name,
               toString(span.what), span.library, span.from_ns, span.to_ns, span.events,
               known(is_number, lost)});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
