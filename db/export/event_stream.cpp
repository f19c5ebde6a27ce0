#include "db/export/event_stream.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::exporting {

namespace {

bool startsBefore(const Event& a, const Event& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.depth < b.depth;
}

// By the id of a chunk's first event: the earliest start of the chunks after it.
using LaterStarts = std::map<std::int64_t, TimeNs>;

Result<LaterStarts> laterStarts(Trace& trace, TrackId track, const Selection& selection) {
  const SqlParameter parameters[] = {{":track", std::int64_t{track.value}}, {":end", selection.endNs()}};
  const auto rows = PITWALL_TRY(trace.query(
      "SELECT id, first_start_ns FROM event_chunk WHERE track_id = :track AND first_start_ns < :end"
      " ORDER BY id DESC",
      parameters));
  LaterStarts starts;
  TimeNs earliest = std::numeric_limits<TimeNs>::max();
  for (const auto& row : rows.rows) {
    starts[integerOf(row[0])] = earliest;
    earliest = std::min(earliest, integerOf(row[1]));
  }
  return starts;
}

// Chunks of a track overlap where an event ended in a later commit than those it encloses: events are
// buffered until no later chunk can have an earlier one.
class InOrder {
 public:
  InOrder(Trace& trace, const std::function<Status(const FullEvent&)>& visit)
      : trace_(trace), visit_(visit) {}

  void hold(const Event& event) { held_.push_back(event); }

  // Visits the events that start before `until`.
  Status release(TimeNs until) {
    if (!std::is_sorted(held_.begin(), held_.end(), startsBefore))
      std::stable_sort(held_.begin(), held_.end(), startsBefore);
    auto at = held_.begin();
    for (; at != held_.end() && at->start_ns < until; ++at) {
      PITWALL_TRY(visit_({*at, trace_.string(at->name), trace_.string(at->args)}));
    }
    held_.erase(held_.begin(), at);
    return {};
  }

 private:
  Trace& trace_;
  const std::function<Status(const FullEvent&)>& visit_;
  std::vector<Event> held_;
};

}  // namespace

Status eachEvent(Trace& trace, TrackId track, const Selection& selection, Pace& pace,
                 const std::function<Status(const FullEvent&)>& visit) {
  const auto later = PITWALL_TRY(laterStarts(trace, track, selection));
  InOrder events(trace, visit);
  Status visited;
  EventSelection wanted;
  wanted.track = track;
  wanted.from_ns = selection.beginNs();
  wanted.to_ns = selection.endNs();
  Status read = trace.eventColumns(wanted, [&](const EventSpans& spans) {
    for (std::size_t i = 0; i < spans.size; ++i) {
      const Event event = eventAt(spans, i);
      if (selection.has(event)) events.hold(event);
    }
    const auto chunk = later.upper_bound(spans.first_id);
    visited = events.release(chunk == later.begin() ? std::numeric_limits<TimeNs>::min()
                                                    : std::prev(chunk)->second);
    if (visited.has_value()) visited = pace.advance(static_cast<std::int64_t>(spans.size));
    return visited.has_value();
  });
  PITWALL_TRY(visited);
  PITWALL_TRY(read);
  return events.release(std::numeric_limits<TimeNs>::max());
}

Status eachDependency(Trace& trace, Pace& pace, const std::function<Status(const Dependency&)>& visit) {
  Status visited;
  Status read = trace.visitDependencies([&](std::span<const Dependency> dependencies) {
    for (const Dependency& dependency : dependencies) {
      if (visited = visit(dependency); !visited.has_value()) return false;
    }
    visited = pace.advance(static_cast<std::int64_t>(dependencies.size()));
    return visited.has_value();
  });
  return visited.has_value() ? std::move(read) : std::move(visited);
}

Result<std::vector<CounterSample>> samplesOf(Trace& trace, TrackId track, const Selection& selection) {
  Result<std::vector<CounterSample>> samples = trace.counters(track);
  if (!samples.has_value() || selection.isComplete()) return samples;
  std::vector<CounterSample> within;
  const CounterSample* in_force = nullptr;
  for (const CounterSample& sample : *samples) {
    if (sample.time_ns < selection.beginNs()) in_force = &sample;
    if (selection.hasTime(sample.time_ns)) within.push_back(sample);
  }
  const bool at_begin = !within.empty() && within.front().time_ns == selection.beginNs();
  if (in_force != nullptr && !at_begin) within.insert(within.begin(), {selection.beginNs(), in_force->value});
  return within;
}

}  // namespace pitwall::exporting
