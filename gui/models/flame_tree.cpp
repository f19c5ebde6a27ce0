#include "gui/models/flame_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "analyzer/units_text.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kEventsBetweenLooks = 65536;  // at the cancel flag

// The lanes of one track as a sequence: by start, the upper lane first, as the outer event lies there.
class TrackEvents {
 public:
  TrackEvents(const TimelineTrack& track, TimeNs from, TimeNs to) : track_(track), to_(to) {
    next_.resize(track.lanes.size());
    for (std::size_t lane = 0; lane < next_.size(); ++lane) {
      next_[lane] = track.lanes[lane].firstReaching(from);
      push(lane);
    }
  }
  // False at the end.
  bool take(std::size_t& lane, std::size_t& index) {
    if (queue_.empty()) return false;
    lane = queue_.top().second;
    queue_.pop();
    index = next_[lane]++;
    push(lane);
    return true;
  }

 private:
  using Item = std::pair<TimeNs, std::size_t>;  // start, lane
  void push(std::size_t lane) {
    const Lane& events = track_.lanes[lane];
    if (next_[lane] < events.size() && events.startNs(next_[lane]) < to_)
      queue_.push({events.startNs(next_[lane]), lane});
  }

  const TimelineTrack& track_;
  TimeNs to_;
  std::vector<std::size_t> next_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
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
    tree_.nodes.push_back(std::move(node));
    const auto made = static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    tree_.nodes[0].children.push_back(made);
    return made;
  }

  // False when stopped.
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
      if (start < end) open.push_back({end, node});  // nothing lies within an instant
    }
    return true;
  }

 private:
  struct Open {
    TimeNs end;
    std::uint32_t node;
  };

  std::uint32_t child(std::uint32_t parent, std::uint32_t name, ColorIndex color) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | name;
    if (key == last_key_) return last_node_;
    const auto [at, is_new] = by_path_.try_emplace(key, static_cast<std::uint32_t>(tree_.nodes.size()));
    if (is_new) {
      FlameNode node;
      node.name = name;
      node.parent = parent;
      node.track = tree_.nodes[parent].track;
      node.depth = tree_.nodes[parent].depth + 1;
      node.color = color;
      tree_.nodes.push_back(std::move(node));
      tree_.nodes[parent].children.push_back(at->second);
    }
    last_key_ = key;
    last_node_ = at->second;
    return at->second;
  }

  FlameTree& tree_;
  const Timeline& timeline_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_path_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_node_ = 0;
};

// Totals of the nodes that stand for no event; then the order of the children.
void finish(FlameTree& tree) {
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    FlameNode& node = tree.nodes[i];
    tree.deepest = std::max(tree.deepest, node.depth);
    if (i == 0 || node.name == FlameNode::kTrackNode) {
      for (const std::uint32_t child : node.children) node.total_ns += tree.nodes[child].total_ns;
    }
    // Parts of asynchronous events may overlap inside one: then there is no time of its own.
    node.self_ns = std::max<TimeNs>(0, node.self_ns);
    std::stable_sort(node.children.begin(), node.children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tree.nodes[a].total_ns > tree.nodes[b].total_ns;
    });
  }
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
  auto& top = tree.nodes[0].children;
  std::erase_if(top, [&](std::uint32_t node) { return tree.nodes[node].total_ns == 0; });
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
    facts.numbers += fmt::format(", {} of what is around it", share(tree.nodes[of.parent].total_ns));
  if (of.count > 0) {
    facts.numbers +=
        fmt::format("; self {}; {} times, mean {}", showDuration(static_cast<double>(of.self_ns)),
                    showCount(of.count), showDuration(total / static_cast<double>(of.count)));
  }
  return facts;
}

}  // namespace pitwall::gui
