#include "gui/models/flame_builder.h"

#include <algorithm>
#include <span>
#include <utility>

namespace pitwall::gui {

std::uint32_t FlameBuilder::trackNode(std::size_t track) {
  FlameNode node;
  node.name = FlameNode::kTrackNode;
  node.track = static_cast<std::uint32_t>(track);
  node.depth = 1;
  tree_.nodes.push_back(node);
  return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
}

std::uint32_t FlameBuilder::makeChild(std::uint32_t parent, std::uint32_t name, ColorIndex color) {
  FlameNode node;
  node.name = name;
  node.parent = parent;
  node.track = tree_.nodes[parent].track;
  node.depth = tree_.nodes[parent].depth + 1;
  node.color = color;
  tree_.nodes.push_back(node);
  return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
}

namespace {

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

}  // namespace

void finishFlameTree(FlameTree& tree) {
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

}  // namespace pitwall::gui
