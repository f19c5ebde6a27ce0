// The first stage of a search: which candidates are worth a confirmation.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "analyzer/tune/search.h"

namespace pitwall::tuning {
namespace {

constexpr std::size_t kMostParts = 4;
constexpr std::size_t kMostRuns = 3;  // of a candidate
constexpr std::size_t kFewestOfBase = 2;
constexpr double kBehindAfterOne = 0.85;  // of the rate of the group's best: out
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

// To the rate of what it was added to in the screening.
double Search::screenedRatio(std::size_t candidate) const {
  const State& state = states_[candidate];
  return state.screened.empty() || state.screened_base <= 0
             ? 1
             : typicalRate(state.screened) / state.screened_base;
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

// Those whose ratio or place in their group is not clear yet; while some are a clear gain, those wait that are none.
std::vector<std::size_t> Search::unclear() const {
  const auto groups = groupsByRank();
  const bool has_clear = base_ == 0 && std::ranges::any_of(groups, [&](const auto& group) {
                           return isClear(group.second.front());
                         });
  std::vector<std::size_t> unclear;
  for (const auto& [group, ranked] : groups) {
    const std::size_t best = ranked.front();
    if (has_clear && !states_[best].screened.empty() && !isClear(best)) continue;
    for (const std::size_t one : ranked) {
      const bool is_rival = ranked.size() > 1 || states_[one].screened.empty();
      if (states_[one].screened.size() < kMostRuns && (is_rival || (isNear(one) && one == best)))
        unclear.push_back(one);
    }
  }
  return unclear;
}

// The base runs again where a ratio to it is not clear yet.
std::vector<std::size_t> Search::screenMembers() {
  std::vector<std::size_t> members;
  bool needs_base = false;
  for (const std::size_t one : unclear()) {
    members.push_back(combination(base_, one));
    needs_base |= isNear(one) && base_rates_.size() < kMostRuns;
  }
  needs_base |= base_rates_.size() < kFewestOfBase;
  if (needs_base) members.push_back(base_);
  std::ranges::sort(members);
  return members;
}

bool Search::isClear(std::size_t candidate) const { return screenedRatio(candidate) >= 1 + kNear; }

// A single run may have been delayed.
bool Search::isNear(std::size_t candidate) const {
  const double ratio = screenedRatio(candidate);
  return ratio > (states_[candidate].screened.size() < 2 ? kBehindAfterOne : 1 - kNear) && ratio < 1 + kNear;
}

void Search::evaluateScreen() {
  for (const auto& [group, members] : groupsByRank()) dropBehind(members);
  refineRanges();
  if (unclear().empty() && base_rates_.size() >= kFewestOfBase && (base_ != 0 || !screenBesideGains()))
    chooseParts();
}

// What is no clear gain alone may be one beside those that are: its runs so far do not count. False: there is nothing to run.
bool Search::screenBesideGains() {
  const auto groups = groupsByRank();
  for (const auto& [group, ranked] : groups) {
    if (isClear(ranked.front())) parts_.push_back(ranked.front());
  }
  std::ranges::stable_sort(parts_, std::ranges::greater{},
                           [&](std::size_t one) { return screenedRatio(one); });
  for (const std::size_t part : parts_) {
    if (addsTo(base_, part)) base_ = combination(base_, part);
    std::erase(active_, part);
  }
  base_rates_.clear();
  for (const std::size_t one : std::vector(active_)) {
    if (!isNear(one)) {
      conclude(one, Conclusion::screenedOut, screenedText(one));
    } else if (!addsTo(base_, one)) {
      conclude(
          one, Conclusion::notNeeded,
          fmt::format("sets nothing beside {}, which looked better", textOf(candidates_[base_].settings)));
    } else if (base_ != 0) {
      states_[one].screened.clear();
    }
  }
  return base_ != 0 && !active_.empty();
}

std::string Search::screenedText(std::size_t candidate) const {
  const std::size_t runs = states_[candidate].screened.size();
  return fmt::format("screened out: {:.3g}x in {} run{}", screenedRatio(candidate), runs,
                     runs == 1 ? "" : "s") +
         besideText(states_[candidate].screened_beside);
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
  std::vector<std::size_t> more;
  for (const auto& [group, ranked] : groupsByRank()) {
    if (!states_[ranked.front()].screened.empty() &&
        screenedRatio(ranked.front()) >= 1 + options_.min_gain / 2)
      more.push_back(ranked.front());
  }
  std::ranges::stable_sort(more, std::ranges::greater{}, [&](std::size_t one) { return screenedRatio(one); });
  parts_.insert(parts_.end(), more.begin(), more.end());
  while (parts_.size() > 1 && (parts_.size() > kMostParts || !canConfirm(parts_.size()))) {
    const std::size_t last = parts_.back();
    parts_.pop_back();
    conclude(last, Conclusion::undecided,
             fmt::format("{:.3g}x in the screening; {}", screenedRatio(last),
                         parts_.size() >= kMostParts ? "four others looked better"
                                                     : "the budget does not suffice to confirm it"));
  }
  for (const auto& [group, ranked] : groupsByRank()) {
    for (const std::size_t one : ranked) {
      if (std::ranges::find(parts_, one) != parts_.end()) continue;
      conclude(one, Conclusion::screenedOut,
               one == ranked.front() ? screenedText(one)
                                     : fmt::format("screened out: {} is preferred",
                                                   textOf(candidates_[ranked.front()].settings)));
    }
  }
  active_.clear();
  startStage(parts_.empty() ? Stage::done : Stage::confirm);
  buildLinks();
}

}  // namespace pitwall::tuning
