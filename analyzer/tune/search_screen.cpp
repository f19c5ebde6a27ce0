// The first stage of a search: which candidates are worth a confirmation.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "analyzer/tune/search.h"

namespace pitwall::tuning {
namespace {

constexpr std::size_t kMostParts = 4;
constexpr std::size_t kMostRuns = 3;     // of a candidate
constexpr double kBehindAfterOne = 0.9;  // of the rate of the group's best: out
constexpr double kBehindAfterTwo = 0.95;
constexpr double kAsGood = 0.985;       // of the rate of the group's best: not worth another run
constexpr double kNear = 0.05;          // a ratio this near to 1 needs more runs
constexpr double kRoundsToConfirm = 8;  // usually enough

}  // namespace

// Other programs only make a run slower, so the faster half counts.
double typicalRate(std::vector<double> rates) {
  std::ranges::sort(rates, std::ranges::greater{});
  rates.resize((rates.size() + 1) / 2);
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

double Search::screenedRatio(std::size_t candidate) const {
  const std::vector<double>& rates = states_[candidate].screened;
  const std::vector<double>& unchanged = states_[0].screened;
  return rates.empty() || unchanged.empty() ? 1 : typicalRate(rates) / typicalRate(unchanged);
}

// What a rule proposes comes before its neighbours that are no better.
double Search::screenedRank(std::size_t candidate) const {
  return screenedRatio(candidate) * (candidates_[candidate].rule.empty() ? 1 : 1 + options_.min_gain);
}

std::size_t Search::groupSize(const std::string& group) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(active_, [&](std::size_t one) { return candidates_[one].group == group; }));
}

std::map<std::string, std::vector<std::size_t>> Search::groupsByRank() const {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const std::size_t one : active_) groups[candidates_[one].group].push_back(one);
  for (auto& [group, members] : groups)
    std::ranges::stable_sort(members, std::ranges::greater{},
                             [&](std::size_t one) { return screenedRank(one); });
  return groups;
}

// The unchanged program runs again where a ratio to it is not clear yet.
std::vector<std::size_t> Search::screenMembers() const {
  std::vector<std::size_t> members;
  bool needs_unchanged = states_[0].screened.empty();
  for (const auto& [group, ranked] : groupsByRank()) {
    const bool is_near = isNear(ranked.front());
    for (const std::size_t one : ranked) {
      const bool is_rival = ranked.size() > 1 || states_[one].screened.empty();
      const bool has_runs = states_[one].screened.size() < kMostRuns;
      if (!has_runs || !(is_rival || (is_near && one == ranked.front()))) continue;
      members.push_back(one);
      needs_unchanged |= is_near && states_[0].screened.size() < kMostRuns;
    }
  }
  if (needs_unchanged) members.push_back(0);
  std::ranges::sort(members);
  return members;
}

bool Search::isNear(std::size_t candidate) const {
  const double ratio = screenedRatio(candidate);
  return ratio > 1 - kNear && ratio < 1 + kNear;
}

void Search::evaluateScreen() {
  for (const auto& [group, members] : groupsByRank()) dropBehind(members);
  refineRanges();
  const auto members = screenMembers();
  if (members.empty() || members == std::vector<std::size_t>{0}) chooseParts();
}

// Of a group: the best first.
void Search::dropBehind(const std::vector<std::size_t>& members) {
  const std::size_t best = members.front();
  const std::size_t half = (members.size() + 1) / 2;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const std::size_t one = members[i];
    const std::size_t runs = std::min(states_[one].screened.size(), states_[best].screened.size());
    const double relative = screenedRank(one) / screenedRank(best);
    const bool is_out = runs >= kMostRuns || relative < (runs < 2 ? kBehindAfterOne : kBehindAfterTwo) ||
                        (runs == 2 && (relative > kAsGood || (i >= half && members.size() > 2)));
    if (is_out)
      conclude(one, Conclusion::screenedOut,
               fmt::format("screened out: {} had {:.3g}x by then", textOf(candidates_[best].settings),
                           screenedRatio(best)));
  }
}

// Adds the values beside the best one of each range that is down to one.
void Search::refineRanges() {
  std::vector<Candidate> added;
  for (const std::size_t one : active_) {
    const Candidate& candidate = candidates_[one];
    if (!candidate.number || groupSize(candidate.group) > 1) continue;
    const auto parameter = std::ranges::find(options_.parameters, candidate.group, &Parameter::name);
    if (parameter == options_.parameters.end()) continue;
    std::vector<double> tried;
    for (const Candidate& other : candidates_) {
      if (other.group == candidate.group && other.number) tried.push_back(*other.number);
    }
    // Beside a value that is worse than the unchanged program there is nothing to look for.
    if (screenedRatio(one) <= 1 - kNear) continue;
    for (Candidate& next : between(*parameter, *candidate.number, tried)) added.push_back(std::move(next));
  }
  for (Candidate& candidate : added) {
    const bool is_known = std::ranges::any_of(
        candidates_, [&](const Candidate& other) { return other.settings == candidate.settings; });
    if (is_known) continue;
    active_.push_back(candidates_.size());
    candidates_.push_back(std::move(candidate));
    states_.emplace_back();
  }
}

// Whether the budget that is left suffices for the confirmation of so many parts.
bool Search::canConfirm(std::size_t parts) const {
  const double runs = kRoundsToConfirm * static_cast<double>(parts + 1);
  const double usual = states_[0].runs > 0 ? states_[0].seconds / states_[0].runs : 0;
  return spent_s_ + runs * usual <= options_.budget_s && runs_ + runs <= options_.most_runs;
}

void Search::chooseParts() {
  for (const auto& [group, ranked] : groupsByRank()) {
    if (!states_[ranked.front()].screened.empty() &&
        screenedRatio(ranked.front()) >= 1 + options_.min_gain / 2)
      parts_.push_back(ranked.front());
  }
  std::ranges::stable_sort(parts_, std::ranges::greater{},
                           [&](std::size_t one) { return screenedRatio(one); });
  if (parts_.size() > kMostParts) parts_.resize(kMostParts);
  while (parts_.size() > 1 && !canConfirm(parts_.size())) {
    conclude(parts_.back(), Conclusion::undecided,
             fmt::format("{:.3g}x in the screening; the budget does not suffice to confirm it",
                         screenedRatio(parts_.back())));
    parts_.pop_back();
  }
  for (const std::size_t one : std::vector(active_)) {
    if (std::ranges::find(parts_, one) != parts_.end()) continue;
    const std::size_t runs = states_[one].screened.size();
    conclude(
        one, Conclusion::screenedOut,
        fmt::format("screened out: {:.3g}x in {} run{}", screenedRatio(one), runs, runs == 1 ? "" : "s"));
  }
  active_.clear();
  startStage(parts_.empty() ? Stage::done : Stage::confirm);
  buildLinks();
}

}  // namespace pitwall::tuning
