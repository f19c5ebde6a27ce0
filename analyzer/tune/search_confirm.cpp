// The second stage of a search: which parts add something to those before them.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "analyzer/tune/search.h"

namespace pitwall::tuning {
namespace {

constexpr int kFewestPairs = 5;
constexpr int kEnoughPairs = 8;    // for a gain, however wide its interval is
constexpr int kHopelessPairs = 8;  // with less than the least gain in the middle
constexpr int kMostPairs = 20;
constexpr int kMostLaterPairs = 10;         // of a part after the first that adds little
constexpr double kLittle = 3;               // times the least gain
constexpr std::size_t kUnchangedPairs = 6;  // of each combination: more say little about the whole gain

// Of alpha: before the first part that is no gain, after it, after the second, ... Five, seven, nine and eleven pairs of one
// sign suffice.
constexpr std::array kLevels = {0.744, 0.192, 0.0495, 0.0145};

enum class Step { more, gain, noGain, undecided };

// What the pairs so far say. `last`: there are no more.
Step stepAfter(const Ratio& ratio, double min_gain, int most, bool last) {
  if (ratio.isAbove(1) && ratio.middle >= 1 + min_gain) {
    const bool is_narrow = ratio.high - ratio.low < (ratio.middle - 1) * 2 / 3;
    return is_narrow || last || ratio.pairs >= kEnoughPairs ? Step::gain : Step::more;
  }
  if (ratio.isBelow(1 + min_gain)) return Step::noGain;
  if (ratio.pairs >= kFewestPairs && ratio.middle <= 1) return Step::noGain;
  if (ratio.pairs >= kHopelessPairs && ratio.middle < 1 + min_gain) return Step::noGain;
  return last || ratio.pairs >= most ? Step::undecided : Step::more;
}

}  // namespace

double Search::level() const { return options_.alpha * kLevels[std::min(not_gains_, kLevels.size() - 1)]; }

bool Search::keepsWorse(std::size_t candidate) const {
  auto changes = states_[candidate].keep_changes;
  if (changes.empty()) return false;
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  std::ranges::nth_element(changes, middle);
  return *middle < -options_.within;
}

std::vector<std::size_t> Search::confirmMembers() const {
  std::vector<std::size_t> members;
  bool needs_unchanged = false;
  for (const Link& link : links_) {
    if (link.is_gain) continue;
    if (members.empty() || members.back() != link.base) members.push_back(link.base);
    members.push_back(link.total);
    needs_unchanged |= states_[link.total].pairs.size() < kUnchangedPairs;
  }
  if (needs_unchanged && members.front() != 0) members.push_back(0);
  return members;
}

// Where both set a variable, those of `part`.
Assignments Search::settingsWith(std::size_t base, std::size_t part) const {
  Assignments both = candidates_[part].settings;
  both.insert(candidates_[base].settings.begin(), candidates_[base].settings.end());
  return both;
}

// The candidate with these settings, which is made where there is none.
std::size_t Search::combination(std::size_t base, std::size_t part) {
  Candidate both;
  both.settings = settingsWith(base, part);
  const auto known = std::ranges::find(candidates_, both.settings, &Candidate::settings);
  if (known != candidates_.end()) return static_cast<std::size_t>(known - candidates_.begin());
  both.parts = candidates_[base].parts.empty() ? std::vector{base} : candidates_[base].parts;
  both.parts.push_back(part);
  both.group = "combination";
  candidates_.push_back(std::move(both));
  states_.emplace_back();
  return candidates_.size() - 1;
}

bool Search::addsTo(std::size_t base, std::size_t part) const {
  return std::ranges::any_of(candidates_[part].settings, [&](const auto& setting) {
    return !candidates_[base].settings.contains(setting.first);
  });
}

std::string Search::besideText(std::size_t base) const {
  return base == 0 ? "" : " beside " + textOf(candidates_[base].settings);
}

// Links whose base is the same as before keep their pairs.
void Search::buildLinks() {
  const std::vector<Link> old = std::move(links_);
  links_.clear();
  std::size_t base = 0;
  for (const std::size_t part : parts_) {
    if (!addsTo(base, part)) continue;
    const auto known = std::ranges::find(old, part, &Link::part);
    if (known != old.end() && known->base == base) {
      links_.push_back(*known);
    } else {
      const std::size_t total = combination(base, part);
      links_.push_back({part, base, total});
      State& state = states_[part];
      state.added.clear();
      state.beside = base;
      state.alpha = level();
    }
    base = links_.back().total;
  }
}

void Search::evaluateConfirm(bool last) {
  bool was_removed = false, has_open = false;
  for (Link& link : links_) {
    if (link.is_gain) continue;
    // What looked like a clear gain alone may be none only because of a part before it that is none itself.
    const bool may_be_hidden = has_open && !isNear(link.part);
    has_open = true;
    if (isDecided(link, may_be_hidden, last) && !link.is_gain) {
      std::erase(parts_, link.part);
      ++not_gains_;
      was_removed = true;
    }
    if (last && !link.is_gain) break;  // those behind were measured beside it
  }
  if (last) {
    links_.erase(std::ranges::find(links_, false, &Link::is_gain), links_.end());
  } else if (was_removed) {
    buildLinks();
    stage_rounds_ = 0;
  }
  if (last || std::ranges::all_of(links_, &Link::is_gain)) keepLinks();
}

// Whether there is an answer. Concludes a part that is no gain.
bool Search::isDecided(Link& link, bool may_be_hidden, bool last) {
  const State& state = states_[link.part];
  if (state.conclusion == Conclusion::failed) return true;
  const Ratio ratio = ratioOf(state.added, state.alpha);
  const std::string beside = besideText(link.base);
  const bool adds_little = link.base != 0 && ratio.middle < 1 + kLittle * options_.min_gain;
  switch (stepAfter(ratio, options_.min_gain, adds_little ? kMostLaterPairs : kMostPairs, last)) {
    case Step::more: return false;
    case Step::gain:
      link.is_gain = !keepsWorse(link.total);
      if (!link.is_gain)
        conclude(link.part, Conclusion::worse,
                 fmt::format("faster, but the metric to keep is worse by more than {:g} %{}",
                             options_.within * 100, beside));
      return true;
    case Step::noGain:
      if (may_be_hidden && !last) return false;
      conclude(
          link.part, Conclusion::noGain,
          (ratio.isBelow(1) ? "slower" : fmt::format("no gain of {:g} % or more", options_.min_gain * 100)) +
              beside);
      return true;
    case Step::undecided:
      conclude(
          link.part, Conclusion::undecided,
          last ? ended_ + " before the runs decided"
               : fmt::format("the runs differ too much for an answer from {} pairs{}", ratio.pairs, beside));
      return true;
  }
  return true;
}

// The end of the search: all links are gains.
void Search::keepLinks() {
  best_ = links_.empty() ? 0 : links_.back().total;
  for (const Link& link : links_) {
    if (link.total != best_) conclude(link.total, Conclusion::notNeeded, "a part of the best combination");
    conclude(link.part, Conclusion::kept, "a gain" + besideText(link.base));
    std::erase(parts_, link.part);
  }
  if (links_.size() > 1) conclude(best_, Conclusion::kept, "each part is a gain beside those before it");
  for (const std::size_t left : parts_) {
    if (ended_.empty()) {
      conclude(
          left, Conclusion::notNeeded,
          fmt::format("sets nothing beside {}, which looked better", textOf(candidates_[best_].settings)));
    } else {
      conclude(left, Conclusion::undecided, ended_ + " before the runs decided");
    }
  }
  stage_ = Stage::done;
}

}  // namespace pitwall::tuning
