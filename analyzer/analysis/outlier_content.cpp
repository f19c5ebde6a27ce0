// What runs in outliers and not, or less, in typical iterations: a sample of each, event by event.
#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kOutlierColumns[] = {
    {"name", kText, "", "layer and type of an operator, or name of an event without a number at its end"},
    {"kind", kText, "", "kind of the event, as in the table event"},
    {"outlier_ns", kReal, "ns", "time in an outlier: mean of up to 16"},
    {"usual_ns", kReal, "ns", "time in a typical iteration: mean of up to 16"},
    {"extra_ns", kReal, "ns", "difference of both"},
    {"new_ns", kReal, "ns",
     "part of outlier_ns: of operators (with their shapes) and events that typical iterations do not have"},
};
constexpr TableDeclaration kOutlierTable{"analysis_outlier",
                                         "What takes longer in outliers than in typical iterations, at most "
                                         "50 rows; time on threads, without what runs within it.",
                                         kOutlierColumns};
namespace {

constexpr std::size_t kSample = 16;  // iterations of each kind that are read
constexpr std::size_t kRows = 50;

struct ContentKey {
  EventKind kind = EventKind::scope;
  std::uint32_t name = 0, op = 0;
  friend auto operator<=>(const ContentKey&, const ContentKey&) = default;
};

struct Times {
  TimeNs outlier_ns = 0, usual_ns = 0;  // without nested events
  std::int64_t outlier_count = 0, usual_count = 0;
};

using Contents = std::map<ContentKey, Times>;

// Evenly distributed over all candidates.
std::vector<Iteration> sampleOf(std::span<const Iteration> all, bool outliers) {
  std::vector<Iteration> fitting, sample;
  for (const auto& iteration : all) {
    const bool counts = iteration.role == IterationRole::steady || iteration.is_outlier;
    if (counts && iteration.is_outlier == outliers) fitting.push_back(iteration);
  }
  const std::size_t count = std::min(kSample, fitting.size());
  for (std::size_t i = 0; i < count; ++i) sample.push_back(fitting[i * fitting.size() / count]);
  return sample;
}

struct Piece {
  TimeNs start_ns = 0, end_ns = 0;
  ContentKey key;
};

// Adds the self time of each: the events of one thread within one iteration.
void addSelfTimes(std::vector<Piece>& pieces, bool outlier, Contents& contents) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
  });
  std::vector<Piece> open;
  for (const auto& piece : pieces) {
    while (!open.empty() && open.back().end_ns <= piece.start_ns) open.pop_back();
    auto& times = contents[piece.key];
    (outlier ? times.outlier_ns : times.usual_ns) += piece.end_ns - piece.start_ns;
    ++(outlier ? times.outlier_count : times.usual_count);
    if (!open.empty()) {
      auto& around = contents[open.back().key];
      (outlier ? around.outlier_ns : around.usual_ns) -=
          std::min(piece.end_ns, open.back().end_ns) - piece.start_ns;
    }
    open.push_back(piece);
  }
}

Status addIteration(Trace& trace, const Context& context, const Iteration& iteration, Contents& contents) {
  for (const auto& track : context.activity.tracks) {
    const auto& info = trace.tracks()[track.id.value - 1];
    if (info.kind != TrackKind::thread || info.process != context.timeline.process) continue;
    std::vector<Piece> pieces;
    auto status = trace.eventColumns(
        {.track = track.id,
         .from_ns = iteration.start_ns,
         .to_ns = iteration.end_ns,
         .fields = kStart | kDur | kName | kOperator | kKind,
         .starting = true},
        [&](const EventSpans& events) {
          for (std::size_t i = 0; i < events.size; ++i) {
            const auto kind = static_cast<EventKind>(events.kind[i]);
            if (kind == EventKind::recorder || kind == EventKind::instant) continue;
            const auto op = kind == EventKind::operatorRun ? static_cast<std::uint32_t>(events.op[i]) : 0U;
            const auto name = op > 0 ? 0U : static_cast<std::uint32_t>(events.name[i]);
            // Events that last into later iterations, such as a range around the whole loop, do not belong to
            // this one.
            const TimeNs end = std::min(events.start_ns[i] + events.dur_ns[i], iteration.end_ns);
            pieces.push_back({events.start_ns[i], end, {kind, name, op}});
          }
          return true;
        });
    PITWALL_TRY(status);
    addSelfTimes(pieces, iteration.is_outlier, contents);
  }
  return {};
}

struct ContentRow {
  std::string name, kind;
  double outlier_ns = 0, usual_ns = 0, new_ns = 0;
};

// Ranges with a number in their name ("ProfilerStep#12") are one.
std::string nameOf(const Trace& trace, const ContentKey& key) {
  if (key.op > 0 && key.op <= trace.operatorFacts().size()) {
    const auto& facts = trace.operatorFacts()[key.op - 1];
    return facts.layer.empty() ? facts.name : facts.layer + " " + facts.name;
  }
  std::string name(trace.string(StringId{key.name}));
  const auto stem = name.find_last_not_of("0123456789");
  if (stem != std::string::npos) name.resize(stem + 1);
  return name.empty() ? toString(key.kind) : name;
}

}  // namespace

Status writeOutlierContent(Trace& trace, const Context& context) {
  TempTable table(kOutlierTable);
  const auto outliers = sampleOf(context.iterations.all, true);
  const auto usual = sampleOf(context.iterations.all, false);
  if (outliers.empty() || usual.empty()) return table.write(trace);
  Contents contents;
  for (const auto* sample : {&outliers, &usual}) {
    for (const auto& iteration : *sample) {
      PITWALL_TRY(addIteration(trace, context, iteration, contents));
    }
  }
  std::map<std::pair<std::string, std::string>, ContentRow> rows;
  for (const auto& [key, times] : contents) {
    auto& row = rows[{nameOf(trace, key), toString(key.kind)}];
    const double outlier_ns = static_cast<double>(times.outlier_ns) / static_cast<double>(outliers.size());
    row.outlier_ns += outlier_ns;
    row.new_ns += times.usual_count == 0 ? outlier_ns : 0;
    row.usual_ns += static_cast<double>(times.usual_ns) / static_cast<double>(usual.size());
  }
  std::vector<std::pair<std::pair<std::string, std::string>, ContentRow>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.outlier_ns - a.second.usual_ns > b.second.outlier_ns - b.second.usual_ns;
  });
  for (std::size_t i = 0; i < std::min(kRows, sorted.size()); ++i) {
    const auto& [key, row] = sorted[i];
    if (row.outlier_ns <= row.usual_ns) break;
    table.row(
        {key.first, key.second, row.outlier_ns, row.usual_ns, row.outlier_ns - row.usual_ns, row.new_ns});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
