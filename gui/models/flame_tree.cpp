#include "gui/models/flame_tree.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/models/flame_builder.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kEventsBetweenLooks = 65536;  // between checks of the cancel flag

// The lanes of one track as a sequence: by start, the upper lane first, as the outer event is there. Most
// tracks have few lanes; of many, those that have ended are not checked again.
class TrackEvents {
 public:
  TrackEvents(const TimelineTrack& track, TimeNs from, TimeNs to) : to_(to) {
    for (std::size_t lane = 0; lane < track.lanes.size(); ++lane) {
      views_.emplace_back(track.lanes[lane]);
      Next next{.lane = lane, .index = track.lanes[lane].firstReaching(from), .start = 0};
      if (find(next)) next_.push_back(next);
    }
  }
  const LaneView& lane(std::size_t lane) const { return views_[lane]; }
  // False at the end.
  bool take(std::size_t& lane, std::size_t& index) {
    if (next_.empty()) return false;
    std::size_t first = 0;
    for (std::size_t i = 1; i < next_.size(); ++i) {
      if (next_[i].start < next_[first].start) first = i;
    }
    Next& next = next_[first];
    lane = next.lane;
    index = next.index++;
    if (!find(next)) next_.erase(next_.begin() + static_cast<std::ptrdiff_t>(first));
    return true;
  }

 private:
  struct Next {
    std::size_t lane, index;
    TimeNs start;
  };
  // False when the lane has no more events in the range.
  bool find(Next& next) const {
    const LaneView& lane = views_[next.lane];
    if (next.index >= lane.size()) return false;
    next.start = lane.startNs(next.index);
    return next.start < to_;
  }

  const TimeNs to_;
  std::vector<LaneView> views_;
  std::vector<Next> next_;  // of lanes that have events left, by lane
};

class EventFlames {
 public:
  EventFlames(FlameTree& tree, const Timeline& timeline) : tree_(tree), timeline_(timeline), builder_(tree) {
    for (std::uint32_t name = 0; name < timeline.names.size(); ++name)
      group_.push_back(timeline.firstOfGroup(name));
  }

  std::uint32_t trackNode(std::size_t track) { return builder_.trackNode(track); }

  // False when cancelled.
  bool add(std::size_t track, std::uint32_t root, const std::atomic<bool>* cancel) {
    TrackEvents events(timeline_.tracks[track], tree_.from_ns, tree_.to_ns);
    std::vector<Open> open;  // events around the present moment, outermost first
    std::size_t lane = 0, index = 0, seen = 0;
    while (events.take(lane, index)) {
      if (++seen % kEventsBetweenLooks == 0 && cancel != nullptr && cancel->load()) return false;
      const LaneView& of = events.lane(lane);
      const TimeNs start = of.startNs(index), end = of.endNs(index);
      while (!open.empty() && (open.back().end < start || (open.back().end == start && start < end)))
        open.pop_back();
      std::size_t around = open.size();
      while (around > 0 && (open[around - 1].end < end || open[around - 1].end < start)) --around;
      const std::uint32_t parent = around > 0 ? open[around - 1].node : root;
      const std::uint32_t name = of.name(index);
      const std::uint32_t node =
          builder_.child(parent, name < group_.size() ? group_[name] : name, of.color(index));
      const TimeNs within = std::max<TimeNs>(0, std::min(end, tree_.to_ns) - std::max(start, tree_.from_ns));
      FlameNode& made = tree_.nodes[node];
      made.count += 1;
      made.total_ns += within;
      made.self_ns += within;
      if (around > 0) tree_.nodes[parent].self_ns -= within;
      if (start < end) open.push_back({end, node});  // nothing is within an instant
    }
    return true;
  }

 private:
  struct Open {
    TimeNs end;
    std::uint32_t node;
  };

  FlameTree& tree_;
  const Timeline& timeline_;
  FlameBuilder builder_;
  std::vector<std::uint32_t> group_;  // first name of the group, by name
};

}  // namespace

FlameTree flameTree(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                    FlameGrouping grouping, const std::atomic<bool>* cancel) {
  FlameTree tree;
  tree.from_ns = from;
  tree.to_ns = to;
  tree.by_track = grouping == FlameGrouping::byTrack;
  EventFlames builder(tree, timeline);
  for (const std::size_t track : tracks) {
    if (timeline.tracks[track].lanes.empty()) continue;
    const std::uint32_t root = tree.by_track ? builder.trackNode(track) : 0;
    if (!builder.add(track, root, cancel)) break;
  }
  finishFlameTree(tree);
  return tree;
}

std::string FlameTree::nameOf(const Timeline& timeline, std::uint32_t node) const {
  if (node == 0) return "all";
  const FlameNode& of = nodes[node];
  if (of.name == FlameNode::kTrackNode) return of_stacks ? names[of.track] : timeline.tracks[of.track].title;
  const std::string& name = of_stacks ? names[of.name] : timeline.groupName(of.name);
  return name.empty() ? "(no name)" : name;
}

FlameFacts factsOf(const FlameTree& tree, const Timeline& timeline, std::uint32_t node) {
  const FlameNode& of = tree.nodes[node];
  FlameFacts facts;
  facts.name = tree.nameOf(timeline, node);
  for (std::uint32_t at = node; at != 0; at = tree.nodes[at].parent)
    facts.path = tree.nameOf(timeline, at) + (facts.path.empty() ? "" : " > ") + facts.path;
  const auto total = static_cast<double>(of.total_ns);
  const auto share = [&](TimeNs whole) {
    return whole > 0 ? showShare(total / static_cast<double>(whole)) : "0 %";
  };
  facts.numbers = fmt::format("total {}, {} of all", showDuration(total), share(tree.nodes[0].total_ns));
  if (node != 0 && of.parent != 0)
    facts.numbers += fmt::format(", {} of the {}", share(tree.nodes[of.parent].total_ns),
                                 tree.of_stacks ? "caller" : "enclosing event");
  if (of.count > 0 && tree.of_stacks) {
    facts.numbers += fmt::format("; self {}; {} samples", showDuration(static_cast<double>(of.self_ns)),
                                 showCount(of.count));
  } else if (of.count > 0) {
    facts.numbers +=
        fmt::format("; self {}; {} times, mean {}", showDuration(static_cast<double>(of.self_ns)),
                    showCount(of.count), showDuration(total / static_cast<double>(of.count)));
  }
  return facts;
}

}  // namespace pitwall::gui
