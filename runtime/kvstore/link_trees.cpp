#include "runtime/kvstore/link_trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "runtime/kvstore/search_leaves.h"

namespace pitwall::kvstore {
namespace {

bool connectedAbove(const Links& links, float weight) {
  std::vector<int> reached = {0};
  std::vector<bool> seen(static_cast<std::size_t>(links.devices), false);
  seen[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (int other = 0; other < links.devices; ++other) {
      if (seen[static_cast<std::size_t>(other)] || !(links.at(reached[i], other) > weight)) continue;
      seen[static_cast<std::size_t>(other)] = true;
      reached.push_back(other);
    }
  }
  return static_cast<int>(reached.size()) == links.devices;
}

// Calls visit(parent, child) for each link of a tree.
template <class Visit>
void forLinks(const LinkTree& tree, Visit visit) {
  for (int level = 1; level <= tree.depth(); ++level) {
    for (int i = 0; i < 1 << level; ++i) {
      const int parent = tree.at(level - 1, i / 2), child = tree.at(level, i);
      if (parent != child) visit(parent, child);
    }
  }
}

std::string textOf(const Links& links) {
  std::string text;
  for (int a = 0; a < links.devices; ++a)
    for (int b = 0; b < links.devices; ++b)
      text += fmt::format("{:g}{}", links.at(a, b), b + 1 == links.devices ? '\n' : ' ');
  return text;
}

void log(const TreeOptions& options, const std::string& text) {
  if (options.log != nullptr) *options.log += text;
}

}  // namespace

Links Links::alike(int devices) {
  Links links{devices, std::vector<float>(static_cast<std::size_t>(devices * devices), 1)};
  for (int device = 0; device < devices; ++device) links.at(device, device) = 0;
  return links;
}

Links linksOf(GpuDriver& driver, std::span<const int> devices) {
  const int count = static_cast<int>(devices.size());
  std::vector<GpuLink> of_pairs;
  int highest = 0;
  for (const int device : devices) {
    for (const int other : devices) {
      of_pairs.push_back(device == other ? GpuLink() : driver.link(device, other));
      if (of_pairs.back().direct) highest = std::max(highest, of_pairs.back().rank);
    }
  }
  Links links = Links::alike(count);
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      const GpuLink& link = of_pairs[static_cast<std::size_t>(std::min(a, b) * count + std::max(a, b))];
      if (link.direct) links.at(a, b) = highest == 0 ? 2 : static_cast<float>(1 + link.rank);
    }
  }
  return links;
}

int treeDepth(int devices) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(devices - 1))));
}

Links usableLinks(const Links& links) {
  Links usable = links;
  const float replaced = connectedAbove(links, 1) ? 0.0F : 1.0F / static_cast<float>(links.devices);
  for (float& weight : usable.weights)
    if (weight == 1) weight = replaced;
  return usable;
}

float weightOf(const LinkTree& tree, const Links& links) {
  float sum = 0;
  forLinks(tree, [&](int parent, int child) { sum += links.at(parent, child); });
  return sum;
}

LinkTree treeOfLeaves(const std::vector<int>& leaves) {
  LinkTree tree;
  for (std::size_t nodes = 1; nodes <= leaves.size(); nodes *= 2) {
    tree.scan.push_back(static_cast<int>(tree.topo.size()));
    const std::size_t apart = leaves.size() / nodes;
    for (std::size_t i = 0; i < nodes; ++i) tree.topo.push_back(leaves[i * apart]);
  }
  tree.scan.push_back(static_cast<int>(tree.topo.size()));
  return tree;
}

Result<std::vector<LinkTree>> makeTrees(const Links& links, const TreeOptions& options) {
  Links free = usableLinks(links);
  log(options, fmt::format("links between {} devices:\n{}using {} to find trees\n", links.devices,
                           textOf(links), options.backtrack ? "backtracking" : "Kernighan-Lin"));
  std::vector<LinkTree> trees;
  for (int root = 0; root < links.devices; ++root) {
    std::optional<std::vector<int>> leaves;
    if (!options.backtrack) leaves = leavesByBisection(free, root);
    if (!leaves && !options.backtrack)
      log(options, fmt::format("no tree from root {} by Kernighan-Lin; backtracking\n", root));
    if (!leaves) leaves = leavesByBacktracking(free, root);
    if (!leaves)
      return fail(ErrorCode::unsupported,
                  fmt::format("no tree of links from device {} reaches all {} devices; set "
                              "MXNET_KVSTORE_USETREE=0",
                              root, links.devices));
    trees.push_back(treeOfLeaves(*leaves));
    forLinks(trees.back(), [&](int parent, int child) {
      free.at(parent, child) *= options.penalty;
      free.at(child, parent) = free.at(parent, child);
    });
    log(options, fmt::format("root {}: weight {:g}, devices {}\n", root, weightOf(trees.back(), links),
                             fmt::join(trees.back().topo, " ")));
  }
  return trees;
}

}  // namespace pitwall::kvstore
