// Events of a range merged by call path: which event encloses which follows from their times, as nested
// events are within each other. Plain C++; made in the background.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

struct FlameNode {
  static constexpr std::uint32_t kTrackNode = 0xFFFFFFFF;

  // StringId.value of the first name of its group (name_groups.h), or in FlameTree::names; kTrackNode: stands for the track `track`.
  std::uint32_t name = 0;
  std::uint32_t parent = 0;
  std::uint32_t track = 0;
  std::uint32_t depth = 0;  // the root's is 0
  std::int64_t count = 0;
  TimeNs total_ns = 0;                          // of the parts within the range
  TimeNs self_ns = 0;                           // total less that of the events directly inside
  std::uint32_t first_child = 0, children = 0;  // where they are in FlameTree::children, and how many
  ColorIndex color = 0;
};

enum class FlameGrouping {
  byTrack,  // the root's children are the tracks
  merged,   // the same path on several tracks is one
};

struct FlameTree {
  std::vector<FlameNode> nodes;         // [0] is the root: all of it, count 0
  std::vector<std::uint32_t> children;  // of all nodes; see childrenOf()
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t deepest = 0;
  bool by_track = false;
  bool of_stacks = false;          // of sampled functions (stack_flames.h)
  std::vector<std::string> names;  // then those of the nodes; for kTrackNode at `track`

  // By total, greatest first.
  std::span<const std::uint32_t> childrenOf(std::uint32_t node) const {
    return std::span(children).subspan(nodes[node].first_child, nodes[node].children);
  }
  std::string nameOf(const Timeline& timeline, std::uint32_t node) const;
};

// Of [from, to) on these tracks (indices into timeline.tracks). Events that reach beyond the one they start
// in belong to the next one around that holds them whole. Stops with what it has when *cancel becomes true.
FlameTree flameTree(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                    FlameGrouping grouping, const std::atomic<bool>* cancel = nullptr);

// "forward\n3.2 ms, 41.0 % of all, 12 times\nself 0.4 ms": the facts of a node.
struct FlameFacts {
  std::string name;
  std::string path;  // "train_step > forward > Convolution"
  std::string numbers;
};
FlameFacts factsOf(const FlameTree& tree, const Timeline& timeline, std::uint32_t node);

}  // namespace pitwall::gui
