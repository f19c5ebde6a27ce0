// A loop hands the same operators over again and again: s[i] == s[i + P] for its period P. Candidates for P
// are the distances between successive occurrences of one operator: in a loop, an operator that occurs once
// in an iteration has P as its most frequent distance. Each operator votes with its most frequent distance;
// the few candidates with most votes are tried on the whole sequence. Of those that match as well as the best
// one (within 1 %), the shortest wins, so that two iterations are not taken for one; a network of many equal
// layers does not mislead, since the distance 1 does not match at its ends.
#include "analyzer/analysis/sequence.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace pitwall::analysis {
namespace {

constexpr double kLeastMatch = 0.8;
constexpr double kEqualMatch = 0.01;
constexpr std::size_t kMostCandidates = 32;
constexpr std::size_t kLeastRepetitions = 3;

using Positions = std::unordered_map<std::uint32_t, std::vector<std::size_t>>;

std::size_t mostFrequentDistance(const std::vector<std::size_t>& positions) {
  std::unordered_map<std::size_t, std::size_t> counts;
  for (std::size_t i = 1; i < positions.size(); ++i) ++counts[positions[i] - positions[i - 1]];
  std::size_t best = 0, best_count = 0;
  for (const auto& [distance, count] : counts) {
    if (count > best_count || (count == best_count && distance < best)) best = distance, best_count = count;
  }
  return best;
}

std::vector<std::size_t> candidatePeriods(const Positions& positions) {
  std::unordered_map<std::size_t, std::size_t> votes;
  for (const auto& [op, where] : positions) {
    if (where.size() >= kLeastRepetitions) ++votes[mostFrequentDistance(where)];
  }
  std::vector<std::pair<std::size_t, std::size_t>> ranked(votes.begin(), votes.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (ranked.size() > kMostCandidates) ranked.resize(kMostCandidates);
  std::vector<std::size_t> periods;
  for (const auto& [period, count] : ranked) periods.push_back(period);
  std::sort(periods.begin(), periods.end());
  return periods;
}

double matchShare(std::span<const std::uint32_t> sequence, std::size_t period) {
  if (sequence.size() < kLeastRepetitions * period) return 0;
  std::size_t matches = 0;
  for (std::size_t i = 0; i + period < sequence.size(); ++i) matches += sequence[i] == sequence[i + period];
  return static_cast<double>(matches) / static_cast<double>(sequence.size() - period);
}

std::size_t choosePeriod(std::span<const std::uint32_t> sequence, const std::vector<std::size_t>& periods) {
  std::vector<double> matches;
  double best = 0;
  for (const auto period : periods) {
    matches.push_back(matchShare(sequence, period));
    best = std::max(best, matches.back());
  }
  if (best < kLeastMatch) return 0;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    if (matches[i] >= best - kEqualMatch) return periods[i];
  }
  return 0;
}

// The operator that occurs once in each period and comes first; its occurrences start the iterations.
const std::vector<std::size_t>* anchorPositions(const Positions& positions, std::size_t period) {
  std::vector<const std::vector<std::size_t>*> once;
  std::size_t most = 0;
  for (const auto& [op, where] : positions) {
    if (where.size() < kLeastRepetitions || mostFrequentDistance(where) != period) continue;
    once.push_back(&where);
    most = std::max(most, where.size());
  }
  const std::vector<std::size_t>* best = nullptr;
  for (const auto* where : once) {
    if (where->size() + 1 < most) continue;  // the last period may be cut off
    if (best == nullptr || where->front() < best->front()) best = where;
  }
  return best;
}

}  // namespace

std::vector<TimeNs> repeatingStarts(std::span<const OperatorInterval> operators) {
  std::vector<std::size_t> order(operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return operators[a].pushed_ns < operators[b].pushed_ns;
  });
  std::vector<std::uint32_t> sequence(order.size());
  Positions positions;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sequence[i] = operators[order[i]].op.value;
    positions[sequence[i]].push_back(i);
  }

  const std::size_t period = choosePeriod(sequence, candidatePeriods(positions));
  if (period == 0) return {};
  const auto* anchor = anchorPositions(positions, period);
  if (anchor == nullptr) return {};
  std::vector<TimeNs> starts;
  for (const auto position : *anchor) {
    const TimeNs start = operators[order[position]].start_ns;
    if (starts.empty() || start > starts.back()) starts.push_back(start);
  }
  return starts.size() >= kLeastRepetitions ? starts : std::vector<TimeNs>{};
}

}  // namespace pitwall::analysis
