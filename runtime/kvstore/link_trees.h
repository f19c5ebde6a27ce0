// Trees over the links between devices, along which sums are made and results returned: for each device one with it as the root.
//
// Links have weights: 0 none (and a device to itself), 1 over the host, 2 and 3 one and two direct links between GPUs. A tree is
// balanced and binary: a sum of n devices takes depth = ceil(log2 n) steps, at least 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/gpu.h"

namespace pitwall::kvstore {

// Row-major, devices x devices; symmetric.
struct Links {
  int devices = 0;
  std::vector<float> weights;
  // All of the lowest weight.
  static Links alike(int devices);
  float at(int a, int b) const { return weights[static_cast<std::size_t>(a * devices + b)]; }
  float& at(int a, int b) { return weights[static_cast<std::size_t>(a * devices + b)]; }
};

struct LinkTree {
  std::vector<int>
      topo;  // 2^(depth + 1) - 1 devices, level by level from the root; a device that passes nothing on is its own child
  std::vector<int> scan;  // where each level begins, and the end: depth + 2 entries
  int depth() const { return static_cast<int>(scan.size()) - 2; }
  // The device at place `i` of a level; level 0 is the root.
  int at(int level, int i) const {
    return topo[static_cast<std::size_t>(scan[static_cast<std::size_t>(level)] + i)];
  }
};

struct TreeOptions {
  float penalty =
      0.7F;  // MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY: on the weight of a link for each finished tree that uses it
  bool backtrack =
      false;  // MXNET_KVSTORE_TREE_BACKTRACK: exhaustive search instead of Kernighan and Lin's heuristic
  std::string* log = nullptr;  // MXNET_KVSTORE_LOGTREE: what was found, as lines
};

// The links of these GPUs: weight 1 + rank of a direct one, as MXNet has it; where the driver ranks all alike, 2. Through the host 1.
Links linksOf(GpuDriver& driver, std::span<const int> devices);

int treeDepth(int devices);  // Precondition: devices >= 1

// Where all devices are connected by links of a weight above 1 the others are not used: they get weight 0, else 1 / devices.
Links usableLinks(const Links& links);

// The sum of the weights of the links that a tree uses.
float weightOf(const LinkTree& tree, const Links& links);

// The tree with these devices at its lowest level, 2^depth of them.
LinkTree treeOfLeaves(const std::vector<int>& leaves);

// Of each device one. Errors: unsupported where links do not connect the devices so.
Result<std::vector<LinkTree>> makeTrees(const Links& links, const TreeOptions& options);

}  // namespace pitwall::kvstore
