// The second and third stages of a search: which candidates are a gain, and which of them together.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/tune/search.h"

namespace pitwall::tuning {
namespace {

constexpr int kFewestPairs = 6;
constexpr int kEnoughPairs = 10;   // for a gain, however wide its interval is
constexpr int kHopelessPairs = 8;  // without a gain in the middle
constexpr int kMostPairs = 20;
constexpr int kMostCombinedPairs = 12;

enum class Step { more, gain, noGain, undecided };

// What the pairs so far say. `most` pairs are the last.
Step stepAfter(const Ratio& ratio, double min_gain, int most) {
  if (ratio.pairs < kFewestPairs) return Step::more;
  if (ratio.isAbove(1) && ratio.middle >= 1 + min_gain) {
    const bool is_narrow = ratio.high - ratio.low < (ratio.middle - 1) * 2 / 3;
    return is_narrow || ratio.pairs >= std::min(most, kEnoughPairs) ? Step::gain : Step::more;
  }
  if (ratio.isBelow(1 + min_gain)) return Step::noGain;
  if (ratio.pairs >= kHopelessPairs && ratio.middle <= 1) return Step::noGain;
  return ratio.pairs >= most ? Step::undecided : Step::more;
}

}  // namespace

double Search::finalistAlpha() const { return options_.alpha / static_cast<double>(finalists_); }

bool Search::keepsWorse(std::size_t candidate) const {
  auto changes = states_[candidate].keep_changes;
  if (changes.empty()) return false;
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  std::ranges::nth_element(changes, middle);
  return *middle < -options_.within;
}

void Search::evaluateConfirm() {
  for (const std::size_t one : std::vector(active_)) decide(one, false);
  if (active_.empty()) beginCombining();
}

void Search::decide(std::size_t candidate, bool last) {
  const Ratio ratio = ratioOf(states_[candidate].pairs, finalistAlpha());
  Step step = stepAfter(ratio, options_.min_gain, kMostPairs);
  if (step == Step::more && last)
    step = ratio.isAbove(1) && ratio.middle >= 1 + options_.min_gain ? Step::gain : Step::undecided;
  switch (step) {
    case Step::more: return;
    case Step::gain:
      if (keepsWorse(candidate))
        return conclude(candidate, Conclusion::worse,
                        fmt::format("faster, but the metric to keep is worse by more than {:g} %",
                                    options_.within * 100));
      confirmed_.push_back(candidate);
      std::erase(active_, candidate);
      return;
    case Step::noGain:
      return conclude(
          candidate, Conclusion::noGain,
          ratio.isBelow(1) ? "slower" : fmt::format("no gain of {:g} % or more", options_.min_gain * 100));
    case Step::undecided:
      return conclude(candidate, Conclusion::undecided,
                      last
                          ? ended_ + " before the runs decided"
                          : fmt::format("the runs differ too much for an answer from {} pairs", ratio.pairs));
  }
}

// The best of each group, best first.
void Search::beginCombining() {
  std::ranges::stable_sort(confirmed_, std::ranges::greater{}, [&](std::size_t one) {
    return ratioOf(states_[one].pairs, finalistAlpha()).middle;
  });
  std::vector<std::size_t> left;
  for (const std::size_t one : confirmed_) {
    const auto better = std::ranges::find_if(
        left, [&](std::size_t other) { return candidates_[other].group == candidates_[one].group; });
    if (better == left.end()) {
      left.push_back(one);
    } else {
      conclude(one, Conclusion::notNeeded,
               fmt::format("a gain, but {} gains more", textOf(candidates_[*better].settings)));
    }
  }
  confirmed_ = std::move(left);
  if (confirmed_.empty()) {
    stage_ = Stage::done;
    return;
  }
  best_ = confirmed_.front();
  conclude(best_, Conclusion::kept, "a gain");
  combinations_ = std::max<std::size_t>(1, confirmed_.size() - 1);
  confirmed_.erase(confirmed_.begin());
  if (!ended_.empty()) return;
  stage_ = nextCombination() ? Stage::combine : Stage::done;
}

// Another value of a variable that is kept cannot be combined with it.
void Search::dropWhatIsSet() {
  for (const std::size_t one : std::vector(confirmed_)) {
    const Assignments& kept = candidates_[best_].settings;
    const bool adds = std::ranges::any_of(candidates_[one].settings,
                                          [&](const auto& setting) { return !kept.contains(setting.first); });
    if (adds) continue;
    conclude(one, Conclusion::notNeeded, fmt::format("a gain, but {} gains as much", textOf(kept)));
    std::erase(confirmed_, one);
  }
}

// Whether there is one to test.
bool Search::nextCombination() {
  combination_ = 0;
  stage_rounds_ = 0;
  plan_.clear();
  results_.clear();
  dropWhatIsSet();
  if (confirmed_.empty()) return false;
  Candidate combined;
  combined.settings = candidates_[best_].settings;
  for (const auto& [name, value] : candidates_[confirmed_.front()].settings) combined.settings[name] = value;
  combined.parts = candidates_[best_].parts.empty() ? std::vector{best_} : candidates_[best_].parts;
  combined.parts.push_back(confirmed_.front());
  combined.group = "combination";
  combination_ = candidates_.size();
  candidates_.push_back(std::move(combined));
  states_.emplace_back();
  return true;
}

void Search::evaluateCombination(bool last) {
  const State& state = states_[combination_];
  const Ratio ratio = ratioOf(state.against_best, options_.alpha / static_cast<double>(combinations_));
  Step step = state.conclusion == Conclusion::failed
                  ? Step::noGain
                  : stepAfter(ratio, options_.min_gain, kMostCombinedPairs);
  if (step == Step::more && !last) return;
  const std::size_t added = confirmed_.front();
  const std::string best = textOf(candidates_[best_].settings);
  const bool is_worse = keepsWorse(combination_);
  if (step == Step::gain && !is_worse) {
    conclude(added, Conclusion::kept, "a gain, and more beside what is kept");
    conclude(best_, candidates_[best_].parts.empty() ? Conclusion::kept : Conclusion::notNeeded,
             candidates_[best_].parts.empty() ? "a gain" : "a part of the best combination");
    best_ = combination_;
    conclude(best_, Conclusion::kept, fmt::format("{:.3g} times as fast as {} alone", ratio.middle, best));
  } else {
    const std::string why = is_worse ? "the metric to keep gets worse beside " + best
                                     : "adds nothing that was measured beside " + best;
    conclude(added, Conclusion::notNeeded, "a gain alone; " + why);
    if (state.conclusion != Conclusion::failed)
      conclude(combination_, is_worse ? Conclusion::worse : Conclusion::notNeeded,
               fmt::format("{:.3g} times as fast as {} alone", ratio.middle, best));
  }
  confirmed_.erase(confirmed_.begin());
  if (last) return;
  if (!nextCombination()) stage_ = Stage::done;
}

}  // namespace pitwall::tuning
