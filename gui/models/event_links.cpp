#include "gui/models/event_links.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "analyzer/units_text.h"
#include "gui/timeline/palette.h"
#include "gui/timeline/store_keys.h"

namespace pitwall::gui {
namespace {

constexpr char kLaunch[] = "launch";
constexpr char kStreamOrder[] = "stream order";  // device work after what was queued before it

std::int64_t numberAt(const std::vector<SqlValue>& row, std::size_t column) {
  const auto* held = std::get_if<std::int64_t>(&row[column]);
  return held == nullptr ? 0 : *held;
}

class Links {
 public:
  Links(const Timeline& timeline, const EventRef& event) : timeline_(timeline), event_(event) {}

  void add(const EventRef& other, bool waited_for, const std::string& kind) {
    const EventRef &from = waited_for ? other : event_, &to = waited_for ? event_ : other;
    const bool launch = kind == kLaunch;
    EventLink link{other, waited_for, launch ? start(from) : end(from), {}};
    const TimeNs until = start(to) - link.free_ns;
    const QString gap = QString::fromStdString(showDuration(static_cast<double>(std::abs(until))));
    const QString when = until < 0 ? QCoreApplication::translate("EventLinks", "%1 beyond the start").arg(gap)
                                   : QCoreApplication::translate(
                                         "EventLinks", launch ? "started %1 before" : "ended %1 before")
                                         .arg(gap);
    link.text = QString("%1 (%2), %3: %4")
                    .arg(QString::fromStdString(timeline_.label(labelOf(timeline_, other))),
                         QString::fromStdString(timeline_.tracks[other.track].title),
                         QString::fromStdString(kind).replace('_', ' '), when);
    links_.push_back(std::move(link));
  }

  std::vector<EventLink> finish() {
    std::stable_sort(links_.begin(), links_.end(), [this](const EventLink& a, const EventLink& b) {
      if (a.waited_for != b.waited_for) return a.waited_for;
      return a.waited_for ? a.free_ns > b.free_ns : start(a.event) < start(b.event);
    });
    return std::move(links_);
  }

 private:
  const Lane& laneOf(const EventRef& e) const { return timeline_.tracks[e.track].lanes[e.lane]; }
  TimeNs start(const EventRef& e) const { return laneOf(e).startNs(e.index); }
  TimeNs end(const EventRef& e) const { return laneOf(e).endNs(e.index); }

  const Timeline& timeline_;
  EventRef event_;
  std::vector<EventLink> links_;
};

// The work before and after on the same stream. Annotations and waits are none.
void addStreamOrder(const Timeline& timeline, const EventRef& event, Links& links) {
  const TimelineTrack& track = timeline.tracks[event.track];
  const auto is_work = [](const Lane& lane, std::size_t i) {
    const std::string_view meaning = meaningOf(lane.color(i));
    return meaning != "other" && meaning != "wait" && meaning != "recorder";
  };
  const Lane& lane = track.lanes[event.lane];
  if (track.kind != TrackKind::stream || !is_work(lane, event.index)) return;
  if (event.index > 0 && is_work(lane, event.index - 1))
    links.add({event.track, event.lane, event.index - 1}, true, kStreamOrder);
  if (event.index + 1 < lane.size() && is_work(lane, event.index + 1))
    links.add({event.track, event.lane, event.index + 1}, false, kStreamOrder);
}

void addDependencies(Trace& trace, const Timeline& timeline, std::int64_t correlation, Links& links) {
  const SqlParameter parameter{":c", correlation};
  for (const bool waited_for : {true, false}) {
    const std::string other = waited_for ? "source" : "target", own = waited_for ? "target" : "source";
    const std::string among = " FROM dependency WHERE " + own + " = :c AND " + other + " <> :c LIMIT 64";
    const auto kinds = trace.query("SELECT " + other + ", kind" + among, {&parameter, 1});
    const auto events =
        trace.query("SELECT track, start_ns, dur_ns, correlation FROM event WHERE correlation IN (SELECT " +
                        other + among + ")",
                    {&parameter, 1});
    if (!kinds.has_value() || !events.has_value()) continue;
    std::map<std::int64_t, std::string> kind_of;
    for (const auto& row : kinds->rows) {
      if (const auto* kind = std::get_if<std::string>(&row[1])) kind_of.try_emplace(numberAt(row, 0), *kind);
    }
    for (const auto& row : events->rows) {
      const auto track = trackWithId(timeline, static_cast<std::uint64_t>(numberAt(row, 0)));
      const auto at = track ? eventAt(timeline, *track, numberAt(row, 1), numberAt(row, 2)) : std::nullopt;
      if (at) links.add(*at, waited_for, kind_of[numberAt(row, 3)]);
    }
  }
}

}  // namespace

std::vector<EventLink> linksOf(Trace& trace, const Timeline& timeline, const EventRef& event,
                               std::int64_t correlation) {
  Links links(timeline, event);
  if (correlation != 0) addDependencies(trace, timeline, correlation, links);
  addStreamOrder(timeline, event, links);
  return links.finish();
}

}  // namespace pitwall::gui
