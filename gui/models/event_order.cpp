// Sorting is a radix sort, least digit first, 11 bits at a time, that skips the digits in which all keys
// agree: 10 million durations take three or four passes instead of 23 comparisons each.
#include "gui/models/event_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <sstream>

#include "gui/timeline/search.h"

namespace pitwall::gui {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::size_t kMostEvents = UINT32_MAX;

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
  if (question.words.empty() && !question.range) kept.reserve(std::min(numbers.size(), kMostEvents));
  for (std::size_t p = 0; p < numbers.places().size() && !stopped(cancel); ++p) {
    const auto [track, lane_index] = numbers.places()[p];
    const Lane& lane = timeline.tracks[track].lanes[lane_index];
    const std::vector<bool>* names = filter.ofTrack(track);
    std::size_t from = 0, to = lane.size();
    if (question.range) {
      from = lane.firstReaching(question.range->first);
      to = lane.firstAt(question.range->second);
    }
    for (std::size_t i = from; i < to && numbers.firstOf(p) + i < kMostEvents; ++i) {
      if (names == nullptr || (*names)[lane.name(i)])
        kept.push_back(static_cast<std::uint32_t>(numbers.firstOf(p) + i));
    }
  }
  return kept;
}

// Place of each name among all in alphabetical order; equal names share one.
std::vector<std::uint64_t> alphabetical(const Timeline& timeline) {
  std::vector<std::uint32_t> order(timeline.names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return timeline.names[a] < timeline.names[b]; });
  std::vector<std::uint64_t> rank(order.size());
  for (std::size_t i = 1; i < order.size(); ++i)
    rank[order[i]] = rank[order[i - 1]] + (timeline.names[order[i]] != timeline.names[order[i - 1]] ? 1 : 0);
  return rank;
}

struct Item {
  std::uint64_t key;
  std::uint32_t number;
};

// `numbers` ascend, so lanes are met one after the other.
std::vector<Item> itemsOf(const EventNumbers& numbers, const EventQuestion& question,
                          const std::vector<std::uint32_t>& kept) {
  const Timeline& timeline = numbers.timeline();
  const auto ranks = question.key == EventKey::name ? alphabetical(timeline) : std::vector<std::uint64_t>{};
  std::vector<Item> items;
  items.reserve(kept.size());
  std::size_t place = 0;
  for (const std::uint32_t number : kept) {
    while (number >= numbers.firstOf(place + 1)) ++place;
    const auto [track, lane_index] = numbers.places()[place];
    const Lane& lane = timeline.tracks[track].lanes[lane_index];
    const std::size_t i = number - numbers.firstOf(place);
    std::uint64_t key = 0;
    switch (question.key) {
      case EventKey::name: key = ranks[lane.name(i)]; break;
      case EventKey::category: key = lane.color(i) / 2; break;
      case EventKey::track: key = track; break;
      // Times may lie before the trace's start; shifted, their order is that of unsigned numbers.
      case EventKey::start: key = static_cast<std::uint64_t>(lane.startNs(i) - timeline.begin_ns); break;
      case EventKey::dur: key = static_cast<std::uint64_t>(lane.durNs(i)); break;
      case EventKey::depth: key = lane_index; break;
    }
    items.push_back({question.descending ? ~key : key, number});
  }
  return items;
}

void radixSort(std::vector<Item>& items, const std::atomic<bool>* cancel) {
  std::uint64_t all = ~std::uint64_t{0}, any = 0;
  for (const Item& item : items) {
    all &= item.key;
    any |= item.key;
  }
  const std::uint64_t differs = all ^ any;
  std::vector<Item> other(items.size());
  for (int shift = 0; shift < 64 && !stopped(cancel); shift += kDigitBits) {
    if ((differs >> shift & (kDigits - 1)) == 0) continue;
    std::array<std::size_t, kDigits> at{};
    for (const Item& item : items) ++at[item.key >> shift & (kDigits - 1)];
    std::size_t sum = 0;
    for (std::size_t& count : at) sum += std::exchange(count, sum);
    for (const Item& item : items) other[at[item.key >> shift & (kDigits - 1)]++] = item;
    items.swap(other);
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
  std::vector<Item> items = itemsOf(numbers, question, kept);
  radixSort(items, cancel);
  for (std::size_t i = 0; i < items.size(); ++i) kept[i] = items[i].number;
  return kept;
}

}  // namespace pitwall::gui
