// Sorting is a radix sort, 11 bits at a time: 10 million durations take three passes instead of 23
// comparisons each.
#include "gui/models/event_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>

#include "gui/models/radix_sort.h"
#include "gui/models/start_order.h"
#include "gui/timeline/palette.h"
#include "gui/timeline/search.h"

namespace pitwall::gui {
namespace {

constexpr int kKeyDigitBits = 11;
constexpr std::size_t kMostNumbers = UINT32_MAX;

bool stopped(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

// Which names pass on a track, for each set of words that the track's title leaves open.
class NameFilter {
 public:
  NameFilter(const Timeline& timeline, const std::string& words) : timeline_(timeline) {
    std::istringstream stream(words);
    for (std::string word; stream >> word && words_.size() < 32;) {
      words_.push_back(word);
      names_.push_back(matchingNames(timeline, word));
    }
  }

  // Null: every name passes.
  const std::vector<bool>* ofTrack(std::size_t track) {
    std::uint32_t open = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!containsText(timeline_.tracks[track].title, words_[i])) open |= 1U << i;
    }
    if (open == 0) return nullptr;
    auto [at, is_new] = by_open_.try_emplace(open);
    if (is_new) at->second = passing(open);
    return &at->second;
  }

 private:
  std::vector<bool> passing(std::uint32_t open) const {
    std::vector<bool> pass(timeline_.names.size(), true);
    for (std::size_t name = 0; name < pass.size(); ++name) {
      for (std::size_t i = 0; i < words_.size(); ++i) {
        if ((open >> i & 1U) != 0 && !names_[i][name]) pass[name] = false;
      }
    }
    return pass;
  }

  const Timeline& timeline_;
  std::vector<std::string> words_;
  std::vector<std::vector<bool>> names_;  // of each word
  std::map<std::uint32_t, std::vector<bool>> by_open_;
};

std::vector<std::uint32_t> passing(const EventNumbers& numbers, const EventQuestion& question,
                                   const std::atomic<bool>* cancel) {
  const Timeline& timeline = numbers.timeline();
  NameFilter filter(timeline, question.words);
  std::vector<std::uint32_t> kept;
  if (question.words.empty() && !question.range) kept.reserve(std::min(numbers.size(), kMostNumbers));
  for (std::size_t p = 0; p < numbers.places().size() && !stopped(cancel); ++p) {
    const auto [track, lane_index] = numbers.places()[p];
    const Lane& lane = timeline.tracks[track].lanes[lane_index];
    const std::vector<bool>* names = filter.ofTrack(track);
    std::size_t from = 0, to = lane.size();
    if (question.range) {
      from = lane.firstReaching(question.range->first);
      to = lane.firstAt(question.range->second);
    }
    to = std::min(to, kMostNumbers - std::min(kMostNumbers, numbers.firstOf(p)));
    const auto first = static_cast<std::uint32_t>(numbers.firstOf(p));
    if (names == nullptr && from < to) {
      kept.resize(kept.size() + (to - from));
      std::iota(kept.end() - static_cast<std::ptrdiff_t>(to - from), kept.end(),
                first + static_cast<std::uint32_t>(from));
      continue;
    }
    for (std::size_t i = from; i < to; ++i) {
      if ((*names)[lane.name(i)]) kept.push_back(first + static_cast<std::uint32_t>(i));
    }
  }
  return kept;
}

// Place of each name among all in alphabetical order; equal names share one.
std::vector<std::uint32_t> alphabetical(const Timeline& timeline) {
  std::vector<std::uint32_t> order(timeline.names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return timeline.names[a] < timeline.names[b]; });
  std::vector<std::uint32_t> rank(order.size());
  for (std::size_t i = 1; i < order.size(); ++i)
    rank[order[i]] = rank[order[i - 1]] + (timeline.names[order[i]] != timeline.names[order[i - 1]] ? 1 : 0);
  return rank;
}

// Calls visit(place, i, number) with each of `kept`, which ascend: event i of a lane.
template <class Visit>
void eachKept(const EventNumbers& numbers, const std::vector<std::uint32_t>& kept, Visit visit) {
  std::size_t place = 0;
  for (const std::uint32_t number : kept) {
    while (number >= numbers.firstOf(place + 1)) ++place;
    visit(numbers.places()[place], number - numbers.firstOf(place), number);
  }
}

template <class Key, class KeyOf>
void sortBy(const EventNumbers& numbers, const EventQuestion& question, std::vector<std::uint32_t>& kept,
            const std::atomic<bool>* cancel, KeyOf keyOf) {
  const auto items = std::make_unique_for_overwrite<Keyed<Key>[]>(kept.size());
  const auto other = std::make_unique_for_overwrite<Keyed<Key>[]>(kept.size());
  std::size_t size = 0;
  eachKept(numbers, kept, [&](const EventNumbers::Place& place, std::size_t i, std::uint32_t number) {
    const Key key = keyOf(numbers.timeline().tracks[place.track].lanes[place.lane], place, i);
    items[size++] = {question.descending ? static_cast<Key>(~key) : key, number};
  });
  radixSort<kKeyDigitBits>(std::span(items.get(), size), std::span(other.get(), size), std::span(kept),
                           [cancel] { return stopped(cancel); });
}

bool haveLongDurations(const EventNumbers& numbers) {
  return std::any_of(numbers.places().begin(), numbers.places().end(), [&](const EventNumbers::Place& p) {
    return numbers.timeline().tracks[p.track].lanes[p.lane].columns().long_dur.size() > 0;
  });
}

void sort(const EventNumbers& numbers, const EventQuestion& question, std::vector<std::uint32_t>& kept,
          const std::atomic<bool>* cancel) {
  using Short = std::uint32_t;
  using Long = std::uint64_t;
  using Place = EventNumbers::Place;
  const auto by = [&]<class Key>(Key, auto key_of) { sortBy<Key>(numbers, question, kept, cancel, key_of); };
  switch (question.key) {
    case EventKey::name:
      return by(Short{},
                [ranks = alphabetical(numbers.timeline())](const Lane& lane, const Place&, std::size_t i) {
                  const std::uint32_t name = lane.name(i);
                  return name < ranks.size() ? ranks[name] : 0;
                });
    case EventKey::category:
      return by(Short{}, [](const Lane& lane, const Place&, std::size_t i) -> Short {
        return static_cast<Short>(categoryOf(lane.color(i)));
      });
    case EventKey::track:
      return by(Short{},
                [](const Lane&, const Place& place, std::size_t) { return static_cast<Short>(place.track); });
    case EventKey::depth:
      return by(Short{},
                [](const Lane&, const Place& place, std::size_t) { return static_cast<Short>(place.lane); });
    case EventKey::dur:
      if (!haveLongDurations(numbers))
        return by(Short{},
                  [](const Lane& lane, const Place&, std::size_t i) { return lane.columns().dur[i]; });
      return by(Long{}, [](const Lane& lane, const Place&, std::size_t i) {
        return static_cast<Long>(lane.durNs(i));
      });
    case EventKey::start:
      if (numbers.places().size() <= kMostMergedPlaces)
        return orderByStart(numbers, question.descending, kept, cancel);
      // Times may be before the trace's start; shifted, their order is that of unsigned numbers.
      return by(Long{}, [begin = numbers.timeline().begin_ns](const Lane& lane, const Place&, std::size_t i) {
        return static_cast<Long>(lane.startNs(i)) - static_cast<Long>(begin);
      });
  }
}

}  // namespace

EventNumbers::EventNumbers(std::shared_ptr<const Timeline> timeline) : timeline_(std::move(timeline)) {
  std::size_t number = 0;
  for (std::size_t track = 0; track < timeline_->tracks.size(); ++track) {
    for (std::size_t lane = 0; lane < timeline_->tracks[track].lanes.size(); ++lane) {
      if (timeline_->tracks[track].lanes[lane].empty()) continue;
      places_.push_back({track, lane});
      first_.push_back(number);
      number += timeline_->tracks[track].lanes[lane].size();
    }
  }
  first_.push_back(number);
}

EventRef EventNumbers::at(std::size_t number) const {
  const auto next = std::upper_bound(first_.begin(), first_.end(), number);
  const auto place = static_cast<std::size_t>(next - first_.begin()) - 1;
  return {places_[place].track, places_[place].lane, number - first_[place]};
}

std::vector<std::uint32_t> orderOf(const EventNumbers& numbers, const EventQuestion& question,
                                   const std::atomic<bool>* cancel) {
  std::vector<std::uint32_t> kept = passing(numbers, question, cancel);
  const bool as_numbered = question.key == EventKey::track && !question.descending;
  if (as_numbered || stopped(cancel)) return kept;
  sort(numbers, question, kept, cancel);
  return kept;
}

}  // namespace pitwall::gui
