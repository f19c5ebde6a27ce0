#include "runtime/kvstore/search_leaves.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>

namespace pitwall::kvstore {
namespace {

using Devices = std::vector<int>;

// --- by bisection --------------------------------------------------------------------------------------------

// How much the links across two halves weigh less after `device` has changed sides.
float gainOf(const Links& links, int device, std::span<const int> own, std::span<const int> other) {
  float gain = 0;
  for (const int there : other) gain += links.at(device, there);
  for (const int here : own) gain -= links.at(device, here);  // 0 to itself
  return gain;
}

// Swaps pairs as long as that makes the links across weigh less.
void improve(const Links& links, Devices& a, Devices& b) {
  for (bool better = true; better;) {
    better = false;
    float best = 1e-6F;
    std::size_t from_a = 0, from_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t k = 0; k < b.size(); ++k) {
        const float gain = gainOf(links, a[i], a, b) + gainOf(links, b[k], b, a) - 2 * links.at(a[i], b[k]);
        if (!(gain > best)) continue;
        best = gain, from_a = i, from_b = k;
        better = true;
      }
    }
    if (better) std::swap(a[from_a], b[from_b]);
  }
}

class Bisection {
 public:
  Bisection(const Links& links, std::mt19937& random) : links_(links), random_(random) {}

  // Fills the places of `leaves` by the devices, of which `root` is the first place. False: a link is missing.
  bool fill(std::span<int> leaves, int root, Devices devices) {
    if (leaves.size() == 1 || devices.size() == 1) {
      std::ranges::fill(leaves, root);
      return true;
    }
    std::ranges::shuffle(devices, random_);
    const auto middle = devices.begin() + static_cast<std::ptrdiff_t>((devices.size() + 1) / 2);
    Devices own(devices.begin(), middle), other(middle, devices.end());
    improve(links_, own, other);
    if (std::ranges::find(own, root) == own.end()) std::swap(own, other);
    int head = -1;  // the first of the best in an order that was shuffled
    for (const int device : other)
      if (links_.at(root, device) > 0 && (head < 0 || links_.at(root, device) > links_.at(root, head)))
        head = device;
    if (head < 0) return false;
    const std::size_t half = leaves.size() / 2;
    return fill(leaves.first(half), root, std::move(own)) &&
           fill(leaves.subspan(half), head, std::move(other));
  }

 private:
  const Links& links_;
  std::mt19937& random_;
};

// --- by backtracking -------------------------------------------------------------------------------------------

std::size_t parentOf(std::size_t place) { return place & (place - 1); }

class Backtracking {
 public:
  Backtracking(const Links& links, int root)
      : links_(links),
        leaves_(std::size_t{1} << treeDepth(links.devices), root),
        used_(static_cast<std::size_t>(links.devices), 0),
        takes_first_(treeDepth(links.devices) > 3) {
    used_[static_cast<std::size_t>(root)] = 1;
  }

  std::optional<Devices> search() {
    place(1, links_.devices - 1, 0);
    return best_;
  }

 private:
  // Whether the search is over.
  bool place(std::size_t at, int missing, float weight) {
    if (++steps_ > kMostSteps) return true;
    if (at == leaves_.size()) {
      if (missing == 0 && (!best_ || weight > best_weight_)) best_ = leaves_, best_weight_ = weight;
      return takes_first_ && best_.has_value();
    }
    if (static_cast<std::size_t>(missing) > leaves_.size() - at) return false;
    const int parent = leaves_[parentOf(at)];
    for (int device = 0; device < links_.devices; ++device) {
      int& used = used_[static_cast<std::size_t>(device)];
      const bool stays = device == parent && isWholeBelow(at);
      if (!stays && (used != 0 || !(links_.at(parent, device) > 0))) continue;
      leaves_[at] = device;
      ++used;
      const bool over = place(at + 1, missing - (used == 1 ? 1 : 0), weight + links_.at(parent, device));
      --used;
      if (over) return true;
    }
    return false;
  }

  // A device that fills several places has all places below the first of them: none of them passes on what it gets from others.
  bool isWholeBelow(std::size_t at) const {
    const std::size_t parent = parentOf(at);
    return std::all_of(leaves_.begin() + static_cast<std::ptrdiff_t>(parent),
                       leaves_.begin() + static_cast<std::ptrdiff_t>(at),
                       [&](int device) { return device == leaves_[parent]; });
  }

  static constexpr std::int64_t kMostSteps = 10'000'000;
  const Links& links_;
  Devices leaves_;
  std::vector<int> used_;  // places of each device
  const bool takes_first_;
  std::optional<Devices> best_;
  float best_weight_ = 0;
  std::int64_t steps_ = 0;
};

float weightOfLeaves(const Links& links, const Devices& leaves) {
  float weight = 0;
  for (std::size_t at = 1; at < leaves.size(); ++at) weight += links.at(leaves[parentOf(at)], leaves[at]);
  return weight;
}

}  // namespace

std::optional<std::vector<int>> leavesByBisection(const Links& links, int root) {
  constexpr int kAttempts = 11;
  std::mt19937 random(1);
  std::optional<Devices> best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Devices devices(static_cast<std::size_t>(links.devices));
    std::iota(devices.begin(), devices.end(), 0);
    Devices leaves(std::size_t{1} << treeDepth(links.devices), root);
    if (!Bisection(links, random).fill(leaves, root, devices)) continue;
    if (!best || weightOfLeaves(links, leaves) > weightOfLeaves(links, *best)) best = std::move(leaves);
  }
  return best;
}

std::optional<std::vector<int>> leavesByBacktracking(const Links& links, int root) {
  return Backtracking(links, root).search();
}

}  // namespace pitwall::kvstore
