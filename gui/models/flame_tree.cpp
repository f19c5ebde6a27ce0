#include "gui/models/flame_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "analyzer/units_text.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kEventsBetweenLooks = 65536;  // between checks of the cancel flag

// The lanes of one track as a sequence: by start, the upper lane first, as the outer event is there. Most
// tracks have few lanes; of many, those that have ended are not checked again.
class TrackEvents {
 public:
  TrackEvents(const TimelineTrack& track, TimeNs from, TimeNs to) : track_(track), to_(to) {
    for (std::size_t lane = 0; lane < track.lanes.size(); ++lane) {
      Next next{.lane = lane, .index = track.lanes[lane].firstReaching(from), .start = 0};
      if (find(next)) next_.push_back(next);
    }
  }
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
    const Lane& lane = track_.lanes[next.lane];
    if (next.index >= lane.size()) return false;
    next.start = lane.startNs(next.index);
    return next.start < to_;
  }

  const TimelineTrack& track_;
  const TimeNs to_;
  std::vector<Next> next_;  // of lanes that have events left, by lane
};

// Nodes by parent and name. Traces may have millions of paths.
class PathTable {
 public:
  PathTable() : slots_(1024) {}

  // The node's number, which the caller sets where it is 0: the path is new.
  std::uint32_t& at(std::uint32_t parent, std::uint32_t name) {
    if (++used_ * 2 > slots_.size()) grow();
    const std::uint64_t key = std::uint64_t{parent} << 32 | name;
    Slot& slot = slotOf(key);
    if (slot.node != 0) --used_;
    slot.key = key;
    return slot.node;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t node = 0;  // 0: empty, as the root is no node's child
  };
  Slot& slotOf(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15) >> 32) & mask;
    while (slots_[at].node != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node != 0) slotOf(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Builder {
 public:
  Builder(FlameTree& tree, const Timeline& timeline) : tree_(tree), timeline_(timeline) {
    tree_.nodes.emplace_back();
  }

  std::uint32_t trackNode(std::size_t track) {
    FlameNode node;
    node.name = FlameNode::kTrackNode;
    node.track = static_cast<std::uint32_t>(track);
    node.depth = 1;
    tree_.nodes.push_back(node);
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  // False when cancelled.
  bool add(std::size_t track, std::uint32_t root, const std::atomic<bool>* cancel) {
    TrackEvents events(timeline_.tracks[track], tree_.from_ns, tree_.to_ns);
    std::vector<Open> open;  // events around the present moment, outermost first
    std::size_t lane = 0, index = 0, seen = 0;
    while (events.take(lane, index)) {
      if (++seen % kEventsBetweenLooks == 0 && cancel != nullptr && cancel->load()) return false;
      const Lane& of = timeline_.tracks[track].lanes[lane];
      const TimeNs start = of.startNs(index), end = of.endNs(index);
      while (!open.empty() && (open.back().end < start || (open.back().end == start && start < end)))
        open.pop_back();
      std::size_t around = open.size();
      while (around > 0 && (open[around - 1].end < end || open[around - 1].end < start)) --around;
      const std::uint32_t parent = around > 0 ? open[around - 1].node : root;
      const std::uint32_t node = child(parent, of.name(index), of.color(index));
      const TimeNs within = std::max<TimeNs>(0, std::min(end, tree_.to_ns) - std::max(start, tree_.from_ns));
      tree_.nodes[node].count += 1;
      tree_.nodes[node].total_ns += within;
      tree_.nodes[node].self_ns += within;
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

  std::uint32_t child(std::uint32_t parent, std::uint32_t name, ColorIndex color) {
    std::uint32_t& known = by_path_.at(parent, name);
    if (known == 0) {
      known = static_cast<std::uint32_t>(tree_.nodes.size());
      FlameNode node;
      node.name = name;
      node.parent = parent;
      node.track = tree_.nodes[parent].track;
      node.depth = tree_.nodes[parent].depth + 1;
      node.color = color;
      tree_.nodes.push_back(node);
    }
    return known;
  }

  FlameTree& tree_;
  const Timeline& timeline_;
  PathTable by_path_;
};

// Children are behind their parents: in this order, and the other way round, each is met once.
void findChildren(FlameTree& tree) {
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) ++tree.nodes[tree.nodes[i].parent].children;
  std::uint32_t sum = 0;
  for (FlameNode& node : tree.nodes) {
    node.first_child = sum;
    sum += std::exchange(node.children, 0);
  }
  tree.children.resize(sum);
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    FlameNode& parent = tree.nodes[tree.nodes[i].parent];
    tree.children[parent.first_child + parent.children++] = i;
  }
}

// Totals of the nodes that stand for no event; then the order of the children.
void finish(FlameTree& tree) {
  findChildren(tree);
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    FlameNode& node = tree.nodes[i];
    tree.deepest = std::max(tree.deepest, node.depth);
    const auto children = std::span(tree.children).subspan(node.first_child, node.children);
    if (i == 0 || node.name == FlameNode::kTrackNode) {
      for (const std::uint32_t child : children) node.total_ns += tree.nodes[child].total_ns;
    }
    // Parts of asynchronous events may overlap inside one: then there is no self time.
    node.self_ns = std::max<TimeNs>(0, node.self_ns);
    if (children.size() < 2) continue;
    std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tree.nodes[a].total_ns != tree.nodes[b].total_ns
                 ? tree.nodes[a].total_ns > tree.nodes[b].total_ns
                 : a < b;
    });
  }
  // Those that take no time come last.
  FlameNode& root = tree.nodes[0];
  while (root.children > 0 && tree.nodes[tree.childrenOf(0).back()].total_ns == 0) --root.children;
}

}  // namespace

FlameTree flameTree(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                    FlameGrouping grouping, const std::atomic<bool>* cancel) {
  FlameTree tree;
  tree.from_ns = from;
  tree.to_ns = to;
  tree.by_track = grouping == FlameGrouping::byTrack;
  Builder builder(tree, timeline);
  for (const std::size_t track : tracks) {
    if (timeline.tracks[track].lanes.empty()) continue;
    const std::uint32_t root = tree.by_track ? builder.trackNode(track) : 0;
    if (!builder.add(track, root, cancel)) break;
  }
  finish(tree);
  return tree;
}

std::string FlameTree::nameOf(const Timeline& timeline, std::uint32_t node) const {
  if (node == 0) return "all";
  const FlameNode& of = nodes[node];
  if (of.name == FlameNode::kTrackNode) return timeline.tracks[of.track].title;
  const std::string& name = timeline.name(of.name);
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
    facts.numbers += fmt::format(", {} of the enclosing event", share(tree.nodes[of.parent].total_ns));
  if (of.count > 0) {
    facts.numbers +=
        fmt::format("; self {}; {} times, mean {}", showDuration(static_cast<double>(of.self_ns)),
                    showCount(of.count), showDuration(total / static_cast<double>(of.count)));
  }
  return facts;
}

}  // namespace pitwall::gui
