// A loop hands the same operators over again and again: s[i] == s[i + P] for its period P. Candidates for P
// are the distances between successive occurrences of one operator: in a loop, an operator that occurs once
// in an iteration has P as its most frequent distance. Each operator votes with its most frequent distance;
// the few candidates with most votes are tried on the whole sequence. Of those that match as well as the best
// one (within 1 %), the shortest wins, so that two iterations are not taken for one; a network of many equal
// layers does not mislead, since the distance 1 does not match at its ends.
#include "analyzer/analysis/sequence.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace pitwall::analysis {
namespace {

constexpr double kLeastMatch = 0.8;
constexpr double kEqualMatch = 0.01;
constexpr std::size_t kMostCandidates = 32;
constexpr std::size_t kLeastRepetitions = 3;

// Where an operator stands in the sequence.
struct Places {
  std::size_t count = 0, first = 0, last = 0;
  std::unordered_map<std::size_t, std::size_t> distances;  // how often each lies between neighbours
};
using PlacesOf = std::unordered_map<std::uint32_t, Places>;

std::size_t mostFrequentDistance(const Places& places) {
  std::size_t best = 0, best_count = 0;
  for (const auto& [distance, count] : places.distances) {
    if (count > best_count || (count == best_count && distance < best)) best = distance, best_count = count;
  }
  return best;
}

std::vector<std::size_t> candidatePeriods(const PlacesOf& operators) {
  std::unordered_map<std::size_t, std::size_t> votes;
  for (const auto& [op, places] : operators) {
    if (places.count >= kLeastRepetitions) ++votes[mostFrequentDistance(places)];
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
std::optional<std::uint32_t> anchorOf(const PlacesOf& operators, std::size_t period) {
  std::vector<std::pair<std::size_t, std::uint32_t>> once;  // first place, operator
  std::size_t most = 0;
  for (const auto& [op, places] : operators) {
    if (places.count < kLeastRepetitions || mostFrequentDistance(places) != period) continue;
    once.emplace_back(places.first, op);
    most = std::max(most, places.count);
  }
  std::sort(once.begin(), once.end());
  for (const auto& [first, op] : once) {
    if (operators.at(op).count + 1 >= most) return op;  // the last period may be cut off
  }
  return std::nullopt;
}

struct Pushed {
  TimeNs pushed_ns = 0, start_ns = 0;
  std::uint32_t op = 0;
};

// Turns the order of time into that in which the program handed the operators over. Those pushed at once stay
// in order of time.
template <typename Visitor>
Status eachInOrderOfPushes(const OperatorSource& operators, const Visitor& visitor) {
  std::vector<Pushed> waiting;
  return operators([&](std::span<const OperatorInterval> some, TimeNs pending_from_ns) {
    for (const auto& op : some) waiting.push_back({op.pushed_ns, op.start_ns, op.op.value});
    const auto earlier = [](const Pushed& a, const Pushed& b) { return a.pushed_ns < b.pushed_ns; };
    if (!std::is_sorted(waiting.begin(), waiting.end(), earlier))
      std::stable_sort(waiting.begin(), waiting.end(), earlier);
    const auto end = std::partition_point(waiting.begin(), waiting.end(),
                                          [&](const Pushed& op) { return op.pushed_ns <= pending_from_ns; });
    for (auto at = waiting.begin(); at != end; ++at) visitor(*at);
    waiting.erase(waiting.begin(), end);
  });
}

}  // namespace

OperatorSource operatorsOf(SliceReader& slices) {
  return [&slices](const OperatorVisitor& visitor) {
    return slices.each(kOperatorParts, [&](const Slice& slice) {
      visitor(slice.operators, slice.pending_from_ns);
      return Result<bool>(true);
    });
  };
}

Result<std::vector<TimeNs>> repeatingStarts(const OperatorSource& operators) {
  std::vector<std::uint32_t> sequence;
  PlacesOf places_of;
  auto status = eachInOrderOfPushes(operators, [&](const Pushed& op) {
    auto& places = places_of[op.op];
    if (places.count++ == 0) {
      places.first = sequence.size();
    } else {
      ++places.distances[sequence.size() - places.last];
    }
    places.last = sequence.size();
    sequence.push_back(op.op);
  });
  if (!status.has_value()) return fail(status.error());
  const std::size_t period = choosePeriod(sequence, candidatePeriods(places_of));
  if (period == 0) return std::vector<TimeNs>();
  const auto anchor = anchorOf(places_of, period);
  if (!anchor) return std::vector<TimeNs>();
  std::vector<TimeNs> starts;
  status = eachInOrderOfPushes(operators, [&](const Pushed& op) {
    if (op.op == *anchor && (starts.empty() || op.start_ns > starts.back())) starts.push_back(op.start_ns);
  });
  if (!status.has_value()) return fail(status.error());
  return starts.size() >= kLeastRepetitions ? starts : std::vector<TimeNs>();
}

}  // namespace pitwall::analysis
