// A loop pushes the same operators repeatedly: s[i] == s[i + P] for its period P. Candidates for P
// are the distances between successive occurrences of one operator: in a loop, an operator that occurs once
// in an iteration has P as its most frequent distance. Each operator votes with its most frequent distance;
// the few candidates with most votes are tried on the whole sequence, of which only what is within the
// longest of them is held. Of those that match as well as the best
// one (within 1 %), the shortest wins, so that two iterations are not mistaken for one; a network of many
// equal layers does not mislead, since the distance 1 does not match at its ends.
#include "analyzer/analysis/sequence.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr double kLeastMatch = 0.8;
constexpr double kEqualMatch = 0.01;
constexpr std::size_t kMostCandidates = 32;
constexpr std::size_t kMostDistances = 32;
constexpr std::int64_t kLongestPeriod = 1 << 20;
constexpr std::int64_t kLeastRepetitions = 3;
constexpr std::size_t kAtOnce = 1 << 16;

// How often each distance is between neighbours. Of more distances than can be kept, one that makes up
// more than a 33rd of all is kept for certain (Misra and Gries: a distance too many takes one from each).
class Distances {
 public:
  void add(std::int64_t distance) {
    if (distance > kLongestPeriod) return;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].distance != distance) continue;
      ++kept_[i].count;
      if (i > 0 && kept_[i].count > kept_[i - 1].count) std::swap(kept_[i], kept_[i - 1]);
      return;
    }
    if (kept_.size() < kMostDistances) return kept_.push_back({distance, 1});
    std::erase_if(kept_, [](Kept& kept) { return --kept.count == 0; });
  }

  // The shortest of those; 0 for none.
  std::int64_t mostFrequent() const {
    Kept best;
    for (const auto& kept : kept_) {
      if (kept.count > best.count || (kept.count == best.count && kept.distance < best.distance)) best = kept;
    }
    return best.distance;
  }

 private:
  struct Kept {
    std::int64_t distance = 0, count = 0;
  };
  std::vector<Kept> kept_;  // about the most frequent first
};

// Where an operator is in the sequence.
struct Places {
  std::int64_t count = 0, first = 0, last = 0;
  Distances distances;
};
using PlacesOf = std::unordered_map<std::uint32_t, Places>;

std::vector<std::int64_t> candidatePeriods(const PlacesOf& operators) {
  std::unordered_map<std::int64_t, std::size_t> votes;
  for (const auto& [op, places] : operators) {
    if (places.count >= kLeastRepetitions) ++votes[places.distances.mostFrequent()];
  }
  votes.erase(0);
  std::vector<std::pair<std::int64_t, std::size_t>> ranked(votes.begin(), votes.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (ranked.size() > kMostCandidates) ranked.resize(kMostCandidates);
  std::vector<std::int64_t> periods;
  for (const auto& [period, count] : ranked) periods.push_back(period);
  std::sort(periods.begin(), periods.end());
  return periods;
}

// Counts s[i] == s[i + P] for each of some periods, and holds the longest period at most twice.
class Matches {
 public:
  explicit Matches(std::vector<std::int64_t> ascending) : periods_(std::move(ascending)) {
    counts_.resize(periods_.size(), 0);
    most_ = static_cast<std::size_t>(periods_.back());
  }

  void add(std::uint32_t op) {
    held_.push_back(op);
    if (held_.size() - compared_ < std::max(most_, kAtOnce)) return;
    compare();
    // What the longest period may still need.
    if (held_.size() > most_) {
      held_.erase(held_.begin(), held_.end() - static_cast<std::ptrdiff_t>(most_));
      compared_ = held_.size();
    }
  }

  // The one that explains the sequence; 0 for none.
  std::int64_t choose() {
    compare();
    std::vector<double> shares;
    for (std::size_t i = 0; i < periods_.size(); ++i) {
      const bool often = total_ >= kLeastRepetitions * periods_[i];
      shares.push_back(often ? static_cast<double>(counts_[i]) / static_cast<double>(total_ - periods_[i])
                             : 0);
    }
    const double best = *std::max_element(shares.begin(), shares.end());
    if (best < kLeastMatch) return 0;
    for (std::size_t i = 0; i < periods_.size(); ++i) {
      if (shares[i] >= best - kEqualMatch) return periods_[i];
    }
    return 0;
  }

 private:
  void compare() {
    for (std::size_t p = 0; p < periods_.size(); ++p) {
      const auto period = static_cast<std::size_t>(periods_[p]);
      std::uint32_t equal = 0;  // a block has fewer
      for (std::size_t i = std::max(compared_, period); i < held_.size(); ++i)
        equal += held_[i] == held_[i - period];
      counts_[p] += equal;
    }
    total_ += static_cast<std::int64_t>(held_.size() - compared_);
    compared_ = held_.size();
  }

  std::vector<std::int64_t> periods_, counts_;
  std::size_t most_ = 0, compared_ = 0;  // compared: of those held
  std::int64_t total_ = 0;
  std::vector<std::uint32_t> held_;
};

// The operator that occurs once in each period and comes first; its occurrences start the iterations.
std::optional<std::uint32_t> anchorOf(const PlacesOf& operators, std::int64_t period) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> once;  // first place, operator
  std::int64_t most = 0;
  for (const auto& [op, places] : operators) {
    if (places.count < kLeastRepetitions || places.distances.mostFrequent() != period) continue;
    once.emplace_back(places.first, op);
    most = std::max(most, places.count);
  }
  std::sort(once.begin(), once.end());
  for (const auto& [first, op] : once) {
    if (operators.at(op).count + 1 >= most) return op;  // the last period may be cut off
  }
  return std::nullopt;
}

// Keeps each, or every second, fourth and so on, once there are too many.
class Starts {
 public:
  void add(TimeNs start) {
    if (count_ > 0 && start <= last_ns_) return;
    last_ns_ = start;
    if (count_++ % stride_ != 0) return;
    kept_.push_back(start);
    if (kept_.size() < 2 * kMostRepetitions) return;
    for (std::size_t i = 0; i < kMostRepetitions; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kMostRepetitions);
    stride_ *= 2;
  }

  RepeatingSequence finish(std::int64_t period) {
    if (count_ < kLeastRepetitions) return {};
    return {std::move(kept_), period, stride_};
  }

 private:
  std::vector<TimeNs> kept_;
  std::int64_t count_ = 0, stride_ = 1;
  TimeNs last_ns_ = 0;
};

struct Pushed {
  TimeNs pushed_ns = 0, start_ns = 0;
  std::uint32_t op = 0;
};

// Changes the order of time into the order in which the program pushed the operators. Those pushed at once
// stay in order of time.
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

OperatorSource operatorsOf(TimeChunkReader& chunks) {
  return [&chunks](const OperatorVisitor& visitor) {
    return chunks.each(kOperatorParts, [&](const TimeChunk& chunk) {
      visitor(chunk.operators, chunk.pending_from_ns);
      return Result<bool>(true);
    });
  };
}

Result<RepeatingSequence> findRepetition(const OperatorSource& operators) {
  PlacesOf places_of;
  std::int64_t place = 0;
  auto status = eachInOrderOfPushes(operators, [&](const Pushed& op) {
    auto& places = places_of[op.op];
    if (places.count++ == 0) {
      places.first = place;
    } else {
      places.distances.add(place - places.last);
    }
    places.last = place++;
  });
  PITWALL_TRY(status);
  auto candidates = candidatePeriods(places_of);
  if (candidates.empty()) return RepeatingSequence();
  Matches matches(std::move(candidates));
  PITWALL_TRY(eachInOrderOfPushes(operators, [&](const Pushed& op) { matches.add(op.op); }));
  const std::int64_t period = matches.choose();
  const auto anchor = period == 0 ? std::nullopt : anchorOf(places_of, period);
  if (!anchor) return RepeatingSequence();
  Starts starts;
  PITWALL_TRY(eachInOrderOfPushes(operators, [&](const Pushed& op) {
    if (op.op == *anchor) starts.add(op.start_ns);
  }));
  return starts.finish(period);
}

}  // namespace pitwall::analysis
