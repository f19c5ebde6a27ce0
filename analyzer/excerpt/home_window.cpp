#include "analyzer/excerpt/home_window.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyzer/units_text.h"
#include "db/try.h"

namespace pitwall::excerpt {
namespace {

std::int64_t number(const SqlValue& value) { return std::get<std::int64_t>(value); }
std::string lengthOf(TimeNs ns) { return showDuration(static_cast<double>(ns)); }

Status findEnds(Trace& trace, ReportTimeline& timeline) {
  const auto ends = PITWALL_TRY(trace.query(
      "SELECT min(first_start_ns), max(last_end_ns) FROM event_chunk JOIN track ON track.id = track_id "
      "WHERE track.kind <> 'counter'"));
  const auto& row = ends.rows.at(0);
  if (std::holds_alternative<std::monostate>(row[0])) return {};
  // Of a damaged trace the length may be beyond what can be computed with.
  const double length = static_cast<double>(number(row[1])) - static_cast<double>(number(row[0]));
  if (length >= 4e18) return {};
  timeline.begin_ns = number(row[0]);
  timeline.end_ns = number(row[1]);
  return {};
}

// The steady iteration of which most is on the recorded steps of the critical path; of these the one whose duration is
// nearest to the median.
Result<bool> findIteration(Trace& trace, const Report& report, ReportTimeline& timeline) {
  if (report.breakdown.iteration_source == "whole trace") return false;
  const SqlParameter parameters[] = {{":median", report.breakdown.median_iteration_ns}};
  const auto found = PITWALL_TRY(trace.query(
      "WITH steps AS (SELECT min(start_ns) AS begin_ns, max(start_ns + dur_ns) AS end_ns FROM "
      "analysis_critical_step), "
      "steady AS (SELECT iteration, start_ns, dur_ns, ifnull((min(start_ns + dur_ns, end_ns) - max(start_ns, "
      "begin_ns)) * 1.0 / dur_ns, 0.0) AS on_path FROM analysis_iteration, steps WHERE role = 'steady' AND "
      "dur_ns > 0) "
      "SELECT iteration, start_ns, dur_ns, (SELECT count(*) FROM analysis_iteration), on_path FROM steady "
      "ORDER BY round(on_path, 2) DESC, abs(dur_ns - :median), start_ns LIMIT 1",
      parameters));
  if (found.rows.empty()) return false;
  const auto& row = found.rows.front();
  timeline.home_ns = std::max(timeline.begin_ns, number(row[1]));
  timeline.home_end_ns = std::min(timeline.end_ns, number(row[1]) + number(row[2]));
  timeline.title = "Timeline of a typical iteration";
  timeline.explanation =
      fmt::format("Iteration {}, one of {} recorded, takes {}; the median of the steady ones is {}.",
                  showCount(number(row[0])), showCount(number(row[3])), lengthOf(number(row[2])),
                  lengthOf(report.breakdown.median_iteration_ns));
  const double on_path = std::get<double>(row[4]);
  if (on_path > 0 && on_path < 0.99)
    timeline.explanation +=
        fmt::format(" Steps of the critical path are known for {} of it.", showShare(on_path));
  return timeline.home_end_ns > timeline.home_ns;
}

void usePathOrAll(const Report& report, ReportTimeline& timeline) {
  const auto& path = report.critical_path;
  timeline.home_ns = timeline.begin_ns;
  timeline.home_end_ns = timeline.end_ns;
  timeline.title = "Timeline of the whole recording";
  timeline.explanation = fmt::format("No steady iteration was found, so this is the whole recording of {}.",
                                     lengthOf(timeline.end_ns - timeline.begin_ns));
  const TimeNs begin = std::max(timeline.begin_ns, path.begin_ns);
  const TimeNs end = std::min(timeline.end_ns, path.begin_ns + path.span_ns);
  if (end <= begin ||
      static_cast<double>(end - begin) > 0.95 * static_cast<double>(timeline.end_ns - timeline.begin_ns))
    return;
  timeline.home_ns = begin;
  timeline.home_end_ns = end;
  timeline.title = "Timeline of a part of the recording";
  timeline.explanation = fmt::format(
      "No steady iteration was found. This is the part of {} of {} that the critical path is about.",
      lengthOf(end - begin), lengthOf(timeline.end_ns - timeline.begin_ns));
}

// The middle of the part, so long that it has about as many events as may be read.
Status limitEvents(Trace& trace, const ReportTimelineLimits& limits, ReportTimeline& timeline) {
  const TimeNs length = timeline.home_end_ns - timeline.home_ns;
  const double events = PITWALL_TRY(eventsWithin(trace, timeline.home_ns, timeline.home_end_ns));
  if (events <= limits.window_events) return {};
  const auto shown = static_cast<TimeNs>(static_cast<double>(length) * limits.window_events / events / 2);
  timeline.home_ns += (length - shown) / 2;
  timeline.home_end_ns = timeline.home_ns + std::max<TimeNs>(1, shown);
  timeline.explanation += fmt::format(" It has about {} events; shown first are {} in its middle.",
                                      showCount(static_cast<std::int64_t>(events)), lengthOf(shown));
  return {};
}

}  // namespace

Status findHome(Trace& trace, const Report& report, const ReportTimelineLimits& limits,
                ReportTimeline& timeline) {
  PITWALL_TRY(findEnds(trace, timeline));
  if (timeline.empty()) return {};
  if (!PITWALL_TRY(findIteration(trace, report, timeline))) usePathOrAll(report, timeline);
  return limitEvents(trace, limits, timeline);
}

// Events are taken to be evenly spaced within their chunk.
Result<double> eventsWithin(Trace& trace, TimeNs begin_ns, TimeNs end_ns) {
  const SqlParameter window[] = {{":begin", begin_ns}, {":end", end_ns}};
  const auto rows = PITWALL_TRY(
      trace.query("SELECT total(event_count * (1.0 * min(last_end_ns, :end) - max(first_start_ns, :begin)) / "
                  "max(1.0, 1.0 * last_end_ns - first_start_ns)) FROM event_chunk "
                  "WHERE last_end_ns > :begin AND first_start_ns < :end",
                  window));
  return std::get<double>(rows.rows.at(0).at(0));
}

}  // namespace pitwall::excerpt
