#include "analyzer/tune/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "db/check.h"

namespace pitwall::tuning {
namespace {

constexpr double kScreeningShare = 0.5;  // of the budget, at most
constexpr int kMostFailures = 3;         // in a row, of what others are compared with
constexpr double kMostRepeated = 0.2;    // of the rounds

}  // namespace

const char* toString(Stage stage) {
  switch (stage) {
    case Stage::screen: return "screen";
    case Stage::confirm: return "confirm";
    case Stage::done: return "done";
  }
  return "";
}

const char* toString(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::untested: return "not tested";
    case Conclusion::screenedOut: return "screened out";
    case Conclusion::failed: return "failed";
    case Conclusion::kept: return "kept";
    case Conclusion::notNeeded: return "not needed";
    case Conclusion::noGain: return "no gain";
    case Conclusion::undecided: return "undecided";
    case Conclusion::worse: return "worse result";
  }
  return "";
}

Search::Search(std::vector<Candidate> candidates, SearchOptions options)
    : options_(std::move(options)), random_(options_.seed), spent_s_(options_.spent_s) {
  std::set<Assignments> known;
  for (Candidate& candidate : candidates) {
    if (known.insert(candidate.settings).second) candidates_.push_back(std::move(candidate));
  }
  PITWALL_CHECK(!candidates_.empty() && candidates_[0].settings.empty(),
                "the first is the unchanged program");
  states_.resize(candidates_.size());
  for (std::size_t i = 1; i < candidates_.size(); ++i) active_.push_back(i);
  if (active_.empty()) return;
  if (active_.size() > 1) {
    stage_ = Stage::screen;
  } else {
    parts_ = active_;
    buildLinks();
    stage_ = Stage::confirm;
  }
}

std::optional<Run> Search::next() {
  while (stage_ != Stage::done && results_.size() >= plan_.size()) {
    if (!planRound()) continue;
  }
  if (stage_ == Stage::done) return std::nullopt;
  return Run{stage_, round_, plan_[results_.size()]};
}

std::vector<std::size_t> Search::members() {
  return stage_ == Stage::screen ? screenMembers() : confirmMembers();
}

void Search::startStage(Stage stage) {
  stage_ = stage;
  stage_rounds_ = 0;
  plan_.clear();
  results_.clear();
}

// False: the stage has changed instead.
bool Search::planRound() {
  auto who = members();
  const bool screening = stage_ == Stage::screen;
  const bool has_choice = screening && stage_rounds_ > 0;
  if (outOfBudget(who, has_choice ? kScreeningShare : 1)) {
    if (has_choice) {
      chooseParts();
    } else {
      end("the budget is over");
    }
    return false;
  }
  ++round_;
  results_.clear();
  order(std::move(who));
  return true;
}

// Every second round has the reverse order of the one before, so that no place in a round favours a candidate.
void Search::order(std::vector<std::size_t> members) {
  std::vector<std::size_t> reversed(plan_.rbegin(), plan_.rend());
  std::erase_if(reversed, [&](std::size_t one) { return std::ranges::find(members, one) == members.end(); });
  const bool again = stage_rounds_ % 2 == 1 && reversed.size() == members.size();
  if (!again) {
    for (std::size_t left = members.size(); left > 1; --left) {
      const std::size_t chosen = random_() % left;  // the bias for so few is far below what could be measured
      std::swap(members[left - 1], members[chosen]);
    }
  }
  plan_ = again ? std::move(reversed) : std::move(members);
}

double Search::roundSeconds(const std::vector<std::size_t>& members) const {
  const double usual = states_[0].runs > 0 ? states_[0].seconds / states_[0].runs : 0;
  double seconds = 0;
  for (const std::size_t one : members)
    seconds += states_[one].runs > 0 ? states_[one].seconds / states_[one].runs : usual;
  return seconds;
}

bool Search::outOfBudget(const std::vector<std::size_t>& members, double share) const {
  const double runs = runs_ + static_cast<double>(members.size());
  return spent_s_ + roundSeconds(members) > options_.budget_s * share || runs > options_.most_runs * share;
}

void Search::add(const RunResult& result) {
  const std::size_t candidate = plan_.at(results_.size());
  ++runs_;
  spent_s_ += result.seconds;
  State& state = states_[candidate];
  ++state.runs;
  state.seconds += result.seconds;
  results_.push_back(result);
  state.failures = result.rate > 0 ? 0 : state.failures + 1;
  if (candidate == 0) {
    if (state.failures >= kMostFailures)
      return end(
          fmt::format("the unchanged program failed {} times in a row: {}", state.failures, result.cause));
  } else if (state.failures > (result.disturbed ? 1 : 0)) {  // other programs may have been the cause once
    if (stage_ == Stage::screen && candidate == base_) {
      for (const std::size_t one : std::vector(active_))
        conclude(one, Conclusion::undecided,
                 fmt::format("what it was to be added to failed: {}", result.cause));
      return chooseParts();
    }
    conclude(partOf(candidate), Conclusion::failed, result.cause);
  }
  if (results_.size() == plan_.size()) endRound();
}

// What the combination that runs in this stage adds.
std::size_t Search::partOf(std::size_t total) const {
  if (const auto link = std::ranges::find(links_, total, &Link::total); link != links_.end())
    return link->part;
  const auto part = std::ranges::find_if(
      active_, [&](std::size_t one) { return candidates_[total].settings == settingsWith(base_, one); });
  return part == active_.end() ? total : *part;
}

void Search::endRound() {
  const bool is_disturbed = std::ranges::any_of(results_, &RunResult::disturbed);
  // Screening only compares candidates with each other.
  if (stage_ == Stage::screen) {
    takeRates();
    if (base_rates_.empty()) return;  // nothing to compare with
    ++stage_rounds_;
    return evaluateScreen();
  }
  if (is_disturbed && repeated_ < 1 + kMostRepeated * round_) {
    ++repeated_;
  } else {
    disturbed_ += is_disturbed ? 1 : 0;
    ++stage_rounds_;
    if (wasMeasured(0)) takePairs();
    takeAddedPairs();
  }
  evaluateConfirm(false);
}

const RunResult& Search::resultOf(std::size_t candidate) const {
  return results_[static_cast<std::size_t>(std::ranges::find(plan_, candidate) - plan_.begin())];
}

bool Search::wasMeasured(std::size_t candidate) const {
  return std::ranges::find(plan_, candidate) != plan_.end() && resultOf(candidate).rate > 0;
}

void Search::takeRates() {
  if (wasMeasured(base_)) base_rates_.push_back(resultOf(base_).rate);
  for (const std::size_t one : active_) {
    const std::size_t total = combination(base_, one);
    State& state = states_[one];
    if (total != base_ && wasMeasured(total)) state.screened.push_back(resultOf(total).rate);
    if (!base_rates_.empty() && !state.screened.empty()) {
      state.screened_base = typicalRate(base_rates_);
      state.screened_beside = base_;
    }
  }
}

void Search::takePairs() {
  const RunResult& unchanged = resultOf(0);
  for (const std::size_t one : plan_) {
    const RunResult& result = resultOf(one);
    if (one == 0 || !(result.rate > 0)) continue;
    states_[one].pairs.push_back({unchanged.rate, result.rate});
    if (unchanged.keep && result.keep && *unchanged.keep != 0) {
      const double change = *result.keep / *unchanged.keep - 1;
      states_[one].keep_changes.push_back((*unchanged.keep < 0) != options_.keep_lower ? -change : change);
    }
  }
}

void Search::takeAddedPairs() {
  for (const Link& link : links_) {
    if (!link.is_gain && wasMeasured(link.base) && wasMeasured(link.total))
      states_[link.part].added.push_back({resultOf(link.base).rate, resultOf(link.total).rate});
  }
}

void Search::conclude(std::size_t candidate, Conclusion conclusion, std::string why) {
  states_[candidate].conclusion = conclusion;
  states_[candidate].why = std::move(why);
  std::erase(active_, candidate);
}

void Search::setBudget(double seconds, int most_runs) {
  options_.budget_s = seconds;
  options_.most_runs = most_runs;
}

void Search::end(const std::string& why) {
  if (stage_ == Stage::done) return;
  ended_ = why;
  plan_.clear();
  results_.clear();
  if (stage_ == Stage::screen) {
    for (const std::size_t one : std::vector(active_))
      conclude(one, Conclusion::undecided, why + " before its confirmation began");
  } else {
    evaluateConfirm(true);
  }
  stage_ = Stage::done;
}

Verdict Search::verdict(std::size_t candidate) const {
  const State& state = states_[candidate];
  Verdict verdict;
  verdict.conclusion = state.conclusion;
  verdict.why = state.why;
  if (candidate != best_ && state.beside != 0) {
    verdict.beside = state.beside;
    verdict.measured = ratioOf(state.added, state.alpha);
  } else if (!state.pairs.empty()) {
    verdict.measured = ratioOf(state.pairs, state.alpha > 0 ? state.alpha : options_.alpha);
  } else if (!state.screened.empty() && state.screened_base > 0) {
    verdict.beside = state.screened_beside;
    verdict.screened_runs = static_cast<int>(state.screened.size());
    verdict.measured.before = state.screened_base;
    verdict.measured.after = typicalRate(state.screened);
    verdict.measured.middle = verdict.measured.after / verdict.measured.before;
  }
  return verdict;
}

}  // namespace pitwall::tuning
