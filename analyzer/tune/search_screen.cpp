// The first stage of a search: which candidates are worth a confirmation.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analyzer/tune/search.h"

namespace pitwall::tuning {
namespace {

constexpr int kRoundsBetween = 2;  // two halvings
constexpr std::size_t kMostFinalists = 4;
constexpr double kClearlyWorse = 0.9;    // of the group's best ratio: out after any round
constexpr double kRoundsToConfirm = 10;  // usually enough
constexpr double kHopeless = 0.98;       // a median ratio below it has no confirmation

}  // namespace

double Search::screenedRatio(std::size_t candidate) const {
  return ratioOf(states_[candidate].screened, 0).middle;
}

// What a rule proposes comes before its neighbours that are no better.
double Search::screenedRank(std::size_t candidate) const {
  return screenedRatio(candidate) * (candidates_[candidate].rule.empty() ? 1 : 1 + options_.min_gain);
}

std::size_t Search::groupSize(const std::string& group) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(active_, [&](std::size_t one) { return candidates_[one].group == group; }));
}

// Whether another round could change who is confirmed.
bool Search::needsScreening(std::size_t candidate) const {
  std::set<std::string> groups;
  for (const std::size_t one : active_) groups.insert(candidates_[one].group);
  const std::size_t needed = groups.size() > kMostFinalists ? kRoundsBetween : 1;
  return states_[candidate].screened.size() < needed || groupSize(candidates_[candidate].group) > 1;
}

void Search::evaluateScreen() {
  dropClearlyWorse();
  if (stage_rounds_ >= kRoundsBetween) {
    halveGroups();
    stage_rounds_ = 0;
  }
  refineRanges();
  const bool needs_more = std::ranges::any_of(active_, [&](std::size_t one) { return needsScreening(one); });
  if (!needs_more) chooseFinalists();
}

std::map<std::string, std::vector<std::size_t>> Search::groupsByRatio() const {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const std::size_t one : active_) groups[candidates_[one].group].push_back(one);
  for (auto& [group, members] : groups)
    std::ranges::stable_sort(members, std::ranges::greater{},
                             [&](std::size_t one) { return screenedRank(one); });
  return groups;
}

void Search::dropBehind(std::size_t candidate, std::size_t better) {
  conclude(candidate, Conclusion::screenedOut,
           fmt::format("screened out: {} had {:.3g}x by then", textOf(candidates_[better].settings),
                       screenedRatio(better)));
}

void Search::dropClearlyWorse() {
  for (const auto& [group, members] : groupsByRatio()) {
    for (const std::size_t one : members) {
      if (screenedRatio(one) < kClearlyWorse * screenedRatio(members.front()))
        dropBehind(one, members.front());
    }
  }
}

void Search::halveGroups() {
  for (const auto& [group, members] : groupsByRatio()) {
    for (std::size_t i = (members.size() + 1) / 2; i < members.size(); ++i)
      dropBehind(members[i], members.front());
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
    if (screenedRatio(one) < kHopeless) continue;
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

// Whether the budget that is left suffices for their confirmation.
bool Search::canConfirm(const std::vector<std::size_t>& finalists) const {
  std::vector<std::size_t> members = finalists;
  members.push_back(0);
  const double runs = runs_ + kRoundsToConfirm * static_cast<double>(members.size());
  return spent_s_ + kRoundsToConfirm * roundSeconds(members) <= options_.budget_s &&
         runs <= options_.most_runs;
}

void Search::chooseFinalists() {
  std::map<std::string, std::size_t> winners;  // by group
  for (const std::size_t one : active_) {
    const auto [place, is_new] = winners.try_emplace(candidates_[one].group, one);
    if (!is_new && screenedRank(one) > screenedRank(place->second)) place->second = one;
  }
  std::vector<std::size_t> chosen;
  for (const auto& [group, winner] : winners) {
    if (screenedRatio(winner) >= kHopeless) chosen.push_back(winner);
  }
  std::ranges::stable_sort(chosen, std::ranges::greater{},
                           [&](std::size_t one) { return screenedRatio(one); });
  if (chosen.size() > kMostFinalists) chosen.resize(kMostFinalists);
  while (chosen.size() > 1 && !canConfirm(chosen)) chosen.pop_back();
  for (const std::size_t one : std::vector(active_)) {
    if (std::ranges::find(chosen, one) != chosen.end()) continue;
    conclude(
        one, Conclusion::screenedOut,
        fmt::format("screened out: {:.3g}x in {} rounds", screenedRatio(one), states_[one].screened.size()));
  }
  active_ = chosen;
  finalists_ = std::max<std::size_t>(1, chosen.size());
  stage_ = active_.empty() ? Stage::done : Stage::confirm;
  stage_rounds_ = 0;
  plan_.clear();
  results_.clear();
}

}  // namespace pitwall::tuning
