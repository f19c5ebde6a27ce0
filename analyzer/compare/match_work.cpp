#include "analyzer/compare/match_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace pitwall::comparing {
namespace {

using Entry = std::pair<const std::string, Measured::Work>;
using ByOperator = std::map<std::string, std::vector<const Entry*>>;  // by name without shapes

// Entries with shapes that only one of the traces has under exactly this name.
ByOperator onlyIn(const Measured& side, const Measured& other) {
  ByOperator out;
  for (const auto& entry : side.work) {
    if (!entry.second.shapes.empty() && other.work.count(entry.first) == 0)
      out[entry.second.operation].push_back(&entry);
  }
  return out;
}

// The ratio that at least half of the operators with one shape on each side agree on.
BatchRatio suggestedBy(const ByOperator& a, const ByOperator& b) {
  std::vector<BatchRatio> ratios;
  std::size_t asked = 0;
  for (const auto& [operation, entries] : a) {
    const auto found = b.find(operation);
    if (found == b.end() || entries.size() != 1 || found->second.size() != 1) continue;
    ++asked;
    const auto ratio = ratioThatDiffers(entries.front()->second.shapes, found->second.front()->second.shapes);
    if (ratio.isKnown()) ratios.push_back(ratio);
  }
  for (const BatchRatio& candidate : ratios) {
    const auto alike = std::count_if(ratios.begin(), ratios.end(), [&](const BatchRatio& ratio) {
      return std::fabs(ratio.a * candidate.b - ratio.b * candidate.a) < 1e-9 * ratio.a * candidate.b;
    });
    if (2 * static_cast<std::size_t>(alike) >= asked) return candidate;
  }
  return {};
}

struct Pair {
  std::string name;
  const Entry* left = nullptr;
  const Entry* right = nullptr;
};

// Each is in one pair at most.
std::vector<Pair> pairsByBatch(const ByOperator& a, const ByOperator& b, BatchRatio batches) {
  std::vector<Pair> pairs;
  std::set<const Entry*> taken;
  for (const auto& [operation, entries] : a) {
    const auto found = b.find(operation);
    if (found == b.end()) continue;
    for (const Entry* left : entries) {
      for (const Entry* right : found->second) {
        if (taken.count(right) != 0) continue;
        const auto shapes = sameButForBatch(left->second.shapes, right->second.shapes, batches);
        if (shapes.empty()) continue;
        pairs.push_back({operation + " " + shapes, left, right});
        taken.insert(right);
        break;
      }
    }
  }
  return pairs;
}

}  // namespace

Matches matchWork(const Measured& a, const Measured& b) {
  Matches out;
  ByOperator a_only = onlyIn(a, b), b_only = onlyIn(b, a);
  out.batches = {a.items_per_iteration, b.items_per_iteration};
  if (out.batches.a <= 0 || out.batches.b <= 0) {
    out.batches = suggestedBy(a_only, b_only);
    out.batches_from_shapes = out.batches.isKnown();
  }
  std::map<std::string, MatchedWork> matched;
  const auto put = [&](const std::string& name, const std::string& a_name, const std::string& b_name) {
    auto& place = matched[name];
    if (place.name.empty()) place.name = name;
    if (!a_name.empty()) place.a_name = a_name;
    if (!b_name.empty()) place.b_name = b_name;
  };
  const auto pairs = pairsByBatch(a_only, b_only, out.batches);
  out.by_batch = pairs.size();
  std::set<const Entry*> taken;
  for (const auto& [name, left, right] : pairs) {
    put(matched.count(name) == 0 ? name : left->first, left->first, right->first);
    taken.insert({left, right});
  }
  for (const auto& entry : a.work) {
    if (taken.count(&entry) == 0) put(entry.first, entry.first, {});
  }
  for (const auto& entry : b.work) {
    if (taken.count(&entry) == 0) put(entry.first, {}, entry.first);
  }
  for (auto& [name, match] : matched) {
    out.in_both += !match.a_name.empty() && !match.b_name.empty();
    out.all.push_back(std::move(match));
  }
  return out;
}

}  // namespace pitwall::comparing
