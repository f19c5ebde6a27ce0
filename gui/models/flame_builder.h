// What makes a flame tree: nodes by their path, then the order of the children.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/models/flame_tree.h"

namespace pitwall::gui {

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

class FlameBuilder {
 public:
  explicit FlameBuilder(FlameTree& tree) : tree_(tree) { tree_.nodes.emplace_back(); }

  std::uint32_t trackNode(std::size_t track);
  // The child of that name, which is made where it is missing.
  std::uint32_t child(std::uint32_t parent, std::uint32_t name, ColorIndex color) {
    std::uint32_t& known = by_path_.at(parent, name);
    if (known == 0) known = makeChild(parent, name, color);
    return known;
  }

 private:
  std::uint32_t makeChild(std::uint32_t parent, std::uint32_t name, ColorIndex color);

  FlameTree& tree_;
  PathTable by_path_;
};

// When all nodes are there with their count, total and self time: totals of the nodes that stand for a track, and the
// children of each.
void finishFlameTree(FlameTree& tree);

}  // namespace pitwall::gui
