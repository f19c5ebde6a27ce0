// The order of events by start, by name and as samples, each beside a sort or a scan of all of them.
#include "gui/models/event_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gui/timeline/search.h"

namespace pitwall::gui::event_order_test {
namespace {

constexpr ColorIndex kColor = 3;

// Lanes of bursts and pauses, many events at one time among them; one lane spans all times.
std::shared_ptr<Timeline> manyLanes(std::mt19937_64& random) {
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"", "conv", "pool"};
  for (int t = 0; t < 12; ++t) {
    TimelineTrack track;
    for (int l = 0; l < 3; ++l) {
      Lane lane;
      TimeNs at = l == 0 ? INT64_MIN / 2 : static_cast<TimeNs>(random() % 1000);
      for (int i = 0; i < 1500; ++i) {
        const TimeNs dur = i % 3 == 0 ? 0 : static_cast<TimeNs>(random() % 50);
        lane.append(at, dur, static_cast<std::uint32_t>(1 + random() % 2), kColor);
        at += dur + (i % 100 == 0 ? TimeNs{1} << (random() % (l == 0 ? 52 : 20)) : 0);
      }
      track.lanes.push_back(std::move(lane));
    }
    timeline->tracks.push_back(std::move(track));
  }
  return timeline;
}

// Against a stable sort, for all events, some names and a range.
TEST(EventOrder, ByStartAgreesWithSorting) {
  std::mt19937_64 random(19);
  const auto timeline = manyLanes(random);
  const EventNumbers numbers(timeline);
  std::vector<TimeNs> starts(numbers.size());
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    const EventRef ref = numbers.at(i);
    starts[i] = timeline->tracks[ref.track].lanes[ref.lane].startNs(ref.index);
  }
  const auto startOf = [&](std::uint32_t number) { return starts[number]; };
  for (const char* words : {"", "conv"}) {
    for (const bool in_range : {false, true}) {
      EventQuestion question{.key = EventKey::track, .descending = false, .words = words};
      if (in_range) question.range = {TimeNs{300}, TimeNs{1} << 50};
      const std::vector<std::uint32_t> kept = orderOf(numbers, question);
      ASSERT_GT(kept.size(), 10'000U);
      question.key = EventKey::start;
      std::vector<std::uint32_t> expected = kept;
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return startOf(a) < startOf(b); });
      EXPECT_EQ(orderOf(numbers, question), expected) << words << in_range;
      question.descending = true;
      expected = kept;
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return startOf(a) > startOf(b); });
      EXPECT_EQ(orderOf(numbers, question), expected) << words << in_range;
    }
  }
}

// More lanes than are put together part by part.
TEST(EventOrder, OfVeryManyLanes) {
  std::mt19937_64 random(23);
  auto timeline = std::make_shared<Timeline>();
  for (int t = 0; t < 3000; ++t) {
    Lane lane;
    lane.append(static_cast<TimeNs>(random() % 5000), 1, 1, kColor);
    lane.append(static_cast<TimeNs>(5001 + random() % 5000), 1, 1, kColor);
    TimelineTrack track;
    track.lanes.push_back(std::move(lane));
    timeline->tracks.push_back(std::move(track));
  }
  const EventNumbers numbers(timeline);
  const auto order = orderOf(numbers, {.key = EventKey::start, .descending = false, .words = ""});
  ASSERT_EQ(order.size(), 6000U);
  const auto startOf = [&](std::uint32_t number) {
    const EventRef ref = numbers.at(number);
    return timeline->tracks[ref.track].lanes[0].startNs(ref.index);
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TimeNs last = startOf(order[i - 1]), next = startOf(order[i]);
    ASSERT_TRUE(last < next || (last == next && order[i - 1] < order[i]));
  }
}

// With its index of names a lane finds what it finds without.
TEST(NameIndex, FindsWhatAScanFinds) {
  std::mt19937_64 random(17);
  Lane lane;
  for (int i = 0; i < 30'000; ++i)
    lane.append(i * 10, 5, static_cast<std::uint32_t>(random() % 30 == 0 ? random() % 9000 : random() % 50),
                kColor);
  const NameIndex index(lane), none;
  EXPECT_GT(index.bits().size(), 0U);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<bool> names(9000);
    names[random() % 9000] = true;
    const NameSet set(names);
    const std::size_t from = random() % 30'000, end = from + random() % (30'001 - from);
    EXPECT_EQ(index.first(lane, set, from, end), none.first(lane, set, from, end));
    EXPECT_EQ(index.last(lane, set, from, end), none.last(lane, set, from, end));
  }
}

TEST(Search, InstantsAtOneTimeAreEachFound) {
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"", "tick"};
  TimelineTrack track;
  Lane lane;
  for (int i = 0; i < 5; ++i) lane.append(42, 0, 1, kColor);
  track.lanes = {lane, lane};
  timeline->tracks = {track};
  const auto names = matchingNames(*timeline, "tick");
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::optional<EventRef> at;
  for (int i = 0; i < 10; ++i) {
    at = findEvent(*timeline, names, at, true);
    ASSERT_TRUE(at.has_value());
    found.emplace_back(at->lane, at->index);
  }
  EXPECT_EQ(found[0], std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(found[9], std::pair(std::size_t{1}, std::size_t{4}));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  for (int i = 8; i >= 0; --i) {
    at = findEvent(*timeline, names, at, false);
    EXPECT_EQ(std::pair(at->lane, at->index), found[static_cast<std::size_t>(i)]);
  }
}

TEST(CounterSeries, RangesAgreeWithAScan) {
  std::mt19937_64 random(3);
  std::vector<CounterSample> samples;
  for (int i = 0; i < 5000; ++i)
    samples.push_back({i * 7, i % 500 == 0 ? NAN : static_cast<double>(random() % 1000)});
  const CounterSeries counter(samples);
  EXPECT_EQ(counter.size(), 4990U);
  for (int trial = 0; trial < 200; ++trial) {
    const auto from = static_cast<TimeNs>(random() % 35'000);
    const TimeNs to = from + 1 + static_cast<TimeNs>(random() % 9'000);
    double least = INFINITY, greatest = -INFINITY;
    for (std::size_t i = 0; i < counter.size(); ++i) {
      const bool holds_later = i + 1 < counter.size() ? counter.timeNs(i + 1) > from : true;
      if (counter.timeNs(i) < to && holds_later) {
        least = std::min(least, counter.value(i));
        greatest = std::max(greatest, counter.value(i));
      }
    }
    const CounterRange range = counter.range(from, to);
    EXPECT_EQ(range.empty, std::isinf(least));
    if (range.empty) continue;
    EXPECT_EQ(range.least, least);
    EXPECT_EQ(range.greatest, greatest);
  }
}

}  // namespace
}  // namespace pitwall::gui::event_order_test
