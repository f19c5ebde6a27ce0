#include "analyzer/excerpt/windows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/excerpt/home_window.h"
#include "analyzer/excerpt/lane_merger.h"
#include "db/try.h"

namespace pitwall::excerpt {
namespace {

using LaneKey = std::pair<std::size_t, int>;  // row and depth

std::size_t piecesOf(const std::map<LaneKey, LaneMerger>& lanes) {
  std::size_t sum = 0;
  for (const auto& [key, lane] : lanes) sum += lane.size();
  return sum;
}

}  // namespace

Status WindowReader::add(TimeNs begin_ns, TimeNs end_ns, std::size_t pieces) {
  begin_ns = std::max(begin_ns, timeline_.begin_ns);
  end_ns = std::min(end_ns, timeline_.end_ns);
  std::vector<std::pair<TimeNs, TimeNs>> missing;
  for (const auto& window : timeline_.windows) {  // ordered by time
    if (window.begin_ns > begin_ns) missing.emplace_back(begin_ns, std::min(end_ns, window.begin_ns));
    begin_ns = std::max(begin_ns, window.end_ns);
    if (begin_ns >= end_ns) break;
  }
  missing.emplace_back(begin_ns, end_ns);
  for (const auto& [from, to] : missing) {
    if (from >= to) continue;
    if (PITWALL_TRY(eventsWithin(trace_, from, to)) > limits_.window_events) continue;
    PITWALL_TRY(read(from, to, pieces));
  }
  return {};
}

Status WindowReader::read(TimeNs begin_ns, TimeNs end_ns, std::size_t pieces) {
  std::map<LaneKey, LaneMerger> lanes;
  // One lane alone may have as many pieces as there may be.
  TimeNs width = std::max<TimeNs>(1, (end_ns - begin_ns) / static_cast<TimeNs>(pieces));
  for (std::size_t row = 0; row < tracks_.size(); ++row) {
    const EventSelection selection{.track = tracks_[row],
                                   .from_ns = begin_ns,
                                   .to_ns = end_ns,
                                   .fields = kStart | kDur | kName | kOperator | kKind | kDepth};
    auto& shown = timeline_.rows[row];
    PITWALL_TRY(trace_.eventColumns(selection, [&](const EventSpans& spans) {
      for (std::size_t i = 0; i < spans.size; ++i) {
        const TimeNs start = spans.start_ns[i], dur = std::max<TimeNs>(0, spans.dur_ns[i]);
        if (start >= end_ns || start + dur < begin_ns) continue;
        const auto depth = static_cast<int>(spans.depth[i]);
        if (depth >= limits_.depths) {
          ++shown.too_deep;
          continue;
        }
        shown.depths = std::max(shown.depths, depth + 1);
        const std::size_t item = items_.of(static_cast<EventKind>(spans.kind[i]),
                                           OperatorId{static_cast<std::uint32_t>(spans.op[i])},
                                           StringId{static_cast<std::uint32_t>(spans.name[i])});
        auto& lane = lanes.try_emplace({row, depth}, begin_ns, width).first->second;
        lane.add({start, dur, item, 1});
      }
      return true;
    }));
  }
  while (piecesOf(lanes) > pieces && width <= end_ns - begin_ns) {
    width *= 2;
    for (auto& [key, lane] : lanes) lane.coarsen();
  }
  ReportTimeline::Window window{begin_ns, end_ns, {}};
  for (const auto& [key, lane] : lanes) window.lanes.push_back({key.first, key.second, lane.pieces()});
  auto& all = timeline_.windows;
  const auto at = std::lower_bound(all.begin(), all.end(), begin_ns,
                                   [](const ReportTimeline::Window& w, TimeNs t) { return w.begin_ns < t; });
  all.insert(at, std::move(window));
  return {};
}

}  // namespace pitwall::excerpt
