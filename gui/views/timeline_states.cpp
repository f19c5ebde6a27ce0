// What threads do, below their lanes: the text of one state, and what the colours in view stand for.
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/thread_states.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

// Narrower states are looked at in samples.
constexpr double kStateStepPx = 4;

}  // namespace

QString TimelineView::stateTipAt(const QPointF& at) const {
  const int i = rowAtLanes(at);
  if (!state_.timeline || i < 0) return {};
  const Row& row = rows_.rows()[static_cast<std::size_t>(i)];
  const SceneGeometry g = geometryNow();
  const int y = static_cast<int>(at.y()) - g.top() + g.scroll_y;
  if (row.states == 0 || y < row.y + row.height - row.states || y >= row.y + row.height) return {};
  const TimelineTrack& track = state_.timeline->tracks[row.index];
  const auto hit = hitTest(track.states->lane, state_.view, laneX(at), 0);
  if (!hit) return {};
  return tr("%1 %2 for %3 from %4, as sampled")
      .arg(
          QString::fromStdString(track.title), describe(activityAt(track.states->lane, hit->index)),
          QString::fromStdString(showDuration(static_cast<double>(track.states->lane.durNs(hit->index)))),
          QString::fromStdString(showMoment(static_cast<double>(track.states->lane.startNs(hit->index)), 1)));
}

std::vector<LegendEntry> TimelineView::statesInView() const {
  double pixels[kThreadActivities] = {};
  const auto end = static_cast<TimeNs>(state_.view.endNs());
  const auto step = std::max<TimeNs>(1, static_cast<TimeNs>(kStateStepPx * state_.view.ns_per_px));
  const auto [from, to] = rowsInSight(geometryNow(), state_);
  for (std::size_t r = from; r < to; ++r) {
    const Row& row = rows_.rows()[r];
    if (row.states == 0) continue;
    const Lane& lane = state_.timeline->tracks[row.index].states->lane;
    auto at = static_cast<TimeNs>(state_.view.start_ns);
    while (at < end) {
      const std::size_t i = lane.firstReaching(at);
      if (i >= lane.size() || lane.startNs(i) >= end) break;
      const TimeNs begins = std::max(at, lane.startNs(i)), ends = std::min(end, lane.endNs(i));
      pixels[static_cast<int>(activityAt(lane, i))] +=
          static_cast<double>(ends - begins) / state_.view.ns_per_px;
      at = std::max(ends, begins + step);
    }
  }
  std::vector<LegendEntry> entries;
  for (int a = 0; a < kThreadActivities; ++a) {
    if (pixels[a] > 0)
      entries.push_back({static_cast<ColorIndex>(kStateColor + a),
                         std::string("thread ") + describe(static_cast<ThreadActivity>(a)), "", pixels[a]});
  }
  return entries;
}

}  // namespace pitwall::gui
