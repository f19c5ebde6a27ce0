// Lanes and their pictures: no event disappears, at any zoom and after any sequence of moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "gui/timeline/lane_canvas.h"
#include "gui/timeline/timeline.h"
#include "gui/timeline/wide_events.h"

namespace pitwall::gui::lane_test {
namespace {

constexpr ColorIndex kColor = 3;

// Events with gaps and lengths over many orders of magnitude, instants among them.
Lane randomLane(std::mt19937_64& random, std::size_t count) {
  Lane lane;
  TimeNs at = static_cast<TimeNs>(random() % 1000);
  for (std::size_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<int>(random() % 24);
    at += static_cast<TimeNs>(random() % (1ULL << magnitude));
    const TimeNs dur = random() % 10 == 0 ? 0 : static_cast<TimeNs>(random() % (1ULL << (random() % 20)));
    lane.append(at, dur, static_cast<std::uint32_t>(1 + random() % 100),
                static_cast<ColorIndex>(random() % 20));
    at += dur;
  }
  return lane;
}

TEST(Lane, KeepsLongAndShortDurations) {
  Lane lane;
  lane.append(0, 10'000'000'000, 7, kColor);
  lane.append(10'000'000'000, 4'294'967'294, 8, kColor);
  lane.append(20'000'000'000, 0, 9, kColor);
  EXPECT_EQ(lane.durNs(0), 10'000'000'000);
  EXPECT_EQ(lane.durNs(1), 4'294'967'294);
  EXPECT_EQ(lane.endNs(2), 20'000'000'000);
  EXPECT_EQ(lane.name(1), 8U);
  EXPECT_EQ(lane.color(2), kColor);
}

TEST(Lane, FindsByTime) {
  Lane lane;
  lane.append(10, 5, 1, 0);
  lane.append(20, 5, 1, 0);
  EXPECT_EQ(lane.firstAt(10), 0U);
  EXPECT_EQ(lane.firstAt(11), 1U);
  EXPECT_EQ(lane.firstReaching(14), 0U);
  EXPECT_EQ(lane.firstReaching(15), 1U);
  EXPECT_EQ(lane.firstReaching(26), 2U);
}

TEST(Lanes, NestedEventsLieBelowAndNothingOverlaps) {
  std::vector<Event> events;
  const auto add = [&](TimeNs start, TimeNs dur) { events.push_back({.start_ns = start, .dur_ns = dur}); };
  add(0, 100);
  add(10, 20);
  add(12, 5);
  add(50, 80);  // overlaps the first without nesting
  add(100, 10);
  const auto lanes = lanesOf(events, {});
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].size(), 2U);
  EXPECT_EQ(lanes[1].size(), 2U);
  EXPECT_EQ(lanes[1].startNs(1), 50);
  EXPECT_EQ(lanes[2].startNs(0), 12);
}

TEST(Lanes, MoreOverlapThanLanesLosesNoEvent) {
  std::vector<Event> events;
  for (int i = 0; i < 1000; ++i) events.push_back({.start_ns = i, .dur_ns = 1'000'000});
  const auto lanes = lanesOf(events, {});
  EXPECT_EQ(lanes.size(), kMostLanes);
  std::size_t count = 0;
  for (const Lane& lane : lanes) count += lane.size();
  EXPECT_EQ(count, events.size());
}

// What the picture guarantees: at every zoom, each event in sight has a coloured pixel within one pixel of
// where it is, and a pixel further than one from any event is background.
TEST(LaneRenderer, NoEventVanishesAndNothingAppears) {
  std::mt19937_64 random(7);
  LaneRenderer renderer(Palette::light());
  const std::uint32_t background = Palette::light().background;
  for (const std::size_t count : {1UL, 300UL, 5000UL, 200'000UL}) {
    const Lane lane = randomLane(random, count);
    const TilePyramid pyramid(lane);
    EXPECT_EQ(pyramid.empty(), count <= TilePyramid::kEventsPerTile);
    const auto span = static_cast<double>(lane.endNs(count - 1) - lane.startNs(0) + 1);
    std::vector<std::uint32_t> row(777);
    for (int trial = 0; trial < 12; ++trial) {
      View view{.width_px = static_cast<int>(row.size())};
      view.ns_per_px = std::max(0.01, span / 777 * std::pow(10, -static_cast<double>(trial) / 2));
      const double room = std::max(0.0, span - view.ns_per_px * 777);
      view.start_ns =
          static_cast<double>(lane.startNs(0)) + room * static_cast<double>(random() % 1000) / 1000;
      view.start_ns = std::round(view.start_ns / view.ns_per_px) * view.ns_per_px;  // as a viewport does
      renderer.draw(lane, pyramid, view, row);

      std::vector<bool> near(row.size(), false);
      std::size_t vanished = 0;
      for (std::size_t i = 0; i < lane.size(); ++i) {
        const double x0 = view.xOf(static_cast<double>(lane.startNs(i)));
        const double x1 = view.xOf(static_cast<double>(lane.endNs(i)));
        if (x1 < 0 || x0 >= 777) continue;
        const int from = std::max(0, static_cast<int>(std::floor(x0)) - 1);
        const int to = std::min(776, static_cast<int>(std::floor(x1)) + 1);
        bool seen = false;
        for (int x = from; x <= to; ++x) {
          near[static_cast<std::size_t>(x)] = true;
          seen = seen || row[static_cast<std::size_t>(x)] != background;
        }
        vanished += !seen && x0 >= 0 && x1 < 776;
      }
      EXPECT_EQ(vanished, 0U) << count << " events, " << view.ns_per_px << " ns a pixel";
      std::size_t phantoms = 0;
      for (std::size_t x = 0; x < row.size(); ++x) phantoms += row[x] != background && !near[x];
      // A bin that straddles pixels may colour one beside it.
      EXPECT_LE(phantoms, 2U) << count << " events, " << view.ns_per_px << " ns a pixel";
    }
  }
}

TEST(LaneRenderer, ShadesByCoverage) {
  Lane lane;
  lane.append(0, 1000, 1, kColor);    // pixel 0 whole
  lane.append(1000, 500, 1, kColor);  // pixel 1 half
  lane.append(3000, 1, 1, kColor);    // pixel 3 hardly
  std::vector<std::uint32_t> row(5);
  LaneRenderer renderer(Palette::light());
  renderer.draw(lane, TilePyramid(lane), View{0, 1000, 5}, row);
  const std::uint32_t background = Palette::light().background, color = Palette::light().color[kColor];
  EXPECT_EQ(row[0], color);
  EXPECT_NE(row[1], color);
  EXPECT_EQ(row[2], background);
  EXPECT_EQ(row[3], blend(background, color, 64));
  EXPECT_EQ(row[4], background);
}

// Lanes of a canvas, some with gaps between them, some dense and some with hardly an event.
struct ManyLanes {
  std::vector<Lane> lanes;
  std::vector<TilePyramid> pyramids;
  CounterSeries counter;
  std::vector<MemoryLayer> memory;
  std::vector<CanvasLane> shown;

  explicit ManyLanes(std::mt19937_64& random) {
    for (int i = 0; i < 12; ++i) lanes.push_back(randomLane(random, std::size_t{3} << i));
    for (const Lane& lane : lanes) pyramids.emplace_back(lane);
    std::int64_t y = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const int height = 3 + static_cast<int>(i % 4);
      shown.push_back({y, height, &lanes[i], &pyramids[i]});
      y += height + static_cast<int>(i % 3);
      if (i % 4 == 1) {
        shown.push_back({y, 9, nullptr, nullptr, &counter, i == 5 ? &memory : nullptr});
        y += 10;
      }
    }
    std::vector<CounterSample> samples, half;
    for (TimeNs at = 0; at < 20'000'000; at += 1 + static_cast<TimeNs>(random() % 9000)) {
      const auto value = static_cast<double>(random() % 1000);
      samples.push_back({.time_ns = at, .value = value});
      half.push_back({.time_ns = at, .value = value / 2});
    }
    counter = CounterSeries(samples);
    memory.push_back({.tag = {}, .top = counter});
    memory.push_back({.tag = {}, .top = CounterSeries(half)});
  }
};

std::vector<std::uint32_t> picture(const LaneCanvas& canvas) {
  std::vector<std::uint32_t> pixels;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) pixels.push_back(canvas.at(x, y));
  }
  return pixels;
}

TEST(LaneCanvas, MovedPictureIsTheOneDrawnAnew) {
  std::mt19937_64 random(11);
  const ManyLanes many(random);
  LaneCanvas moved(Palette::light());
  moved.resize(150, 30);
  moved.setLanes(many.shown);
  for (const double ns_per_px : {0.07, 1.0, 3.7, 55.5, 12'345.6, 9e6}) {
    std::int64_t first = static_cast<std::int64_t>(1e6 / ns_per_px), top = 0;
    for (int move = 0; move < 40; ++move) {
      const auto by = [&](int most) { return static_cast<std::int64_t>(random() % (2 * most + 1)) - most; };
      first += by(move % 10 == 9 ? 400 : 40);
      top += by(move % 10 == 8 ? 70 : 6);
      moved.show(ns_per_px, first, top);
      LaneCanvas anew(Palette::light());
      anew.resize(150, 30);
      anew.setLanes(many.shown);
      anew.show(ns_per_px, first, top);
      ASSERT_EQ(picture(moved), picture(anew)) << ns_per_px << " ns a pixel, move " << move;
    }
  }
}

TEST(LaneCanvas, ShowsLanesWhereTheyLie) {
  Lane lane;
  lane.append(0, 1000, 1, kColor);
  const TilePyramid pyramid(lane);
  LaneCanvas canvas(Palette::dark());
  canvas.resize(20, 10);
  canvas.setLanes({{2, 3, &lane, &pyramid}});
  canvas.show(100, -5, 1);  // pixels -5 .. 14, lines 1 .. 10
  const std::uint32_t background = Palette::dark().background, color = Palette::dark().color[kColor];
  EXPECT_EQ(canvas.at(5, 0), background);
  EXPECT_EQ(canvas.at(4, 1), background);
  EXPECT_EQ(canvas.at(5, 1), color);
  EXPECT_EQ(canvas.at(14, 3), color);
  EXPECT_EQ(canvas.at(15, 3), background);
  EXPECT_EQ(canvas.at(5, 4), background);
}

TEST(WideEvents, AreThoseOfAScan) {
  std::mt19937_64 random(5);
  std::vector<std::size_t> found;
  for (const std::size_t count : {100UL, 20'000UL}) {
    const Lane lane = randomLane(random, count);
    const TilePyramid pyramid(lane);
    const TimeNs span = lane.endNs(count - 1);
    for (int trial = 0; trial < 100; ++trial) {
      const auto from = static_cast<TimeNs>(random() % static_cast<std::uint64_t>(span));
      const TimeNs to =
          from + 1 + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(span >> (trial % 20)));
      const auto least = static_cast<TimeNs>(1 + random() % (1ULL << (trial % 20)));
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < lane.size(); ++i) {
        if (lane.durNs(i) >= least && lane.startNs(i) < to && lane.endNs(i) > from) expected.push_back(i);
      }
      wideEvents(lane, pyramid, from, to, least, found);
      ASSERT_EQ(found, expected);
    }
  }
}

// Returns the number of events.
std::size_t expectAlike(const std::vector<Lane>& lanes, const std::vector<Lane>& expected) {
  EXPECT_EQ(lanes.size(), expected.size());
  std::size_t count = 0;
  for (std::size_t l = 0; l < std::min(lanes.size(), expected.size()); ++l) {
    EXPECT_EQ(lanes[l].size(), expected[l].size());
    count += lanes[l].size();
    for (std::size_t i = 0; i < std::min(lanes[l].size(), expected[l].size()); ++i) {
      EXPECT_EQ(lanes[l].startNs(i), expected[l].startNs(i));
      EXPECT_EQ(lanes[l].durNs(i), expected[l].durNs(i));
      EXPECT_EQ(lanes[l].look(i), expected[l].look(i));
      if (i > 0) {
        EXPECT_GE(lanes[l].startNs(i), lanes[l].endNs(i - 1));
      }
    }
  }
  return count;
}

TEST(LaneBuilder, LateEventsAreSortedIn) {
  std::mt19937_64 random(2);
  std::vector<Event> events;
  for (int i = 0; i < 3000; ++i) {
    events.push_back({.start_ns = static_cast<TimeNs>(i * 10 + random() % 200 - 100),
                      .dur_ns = static_cast<TimeNs>(random() % (i % 50 == 0 ? 900 : 30)),
                      .name = StringId{static_cast<std::uint32_t>(i + 1)}});
  }
  auto sorted = events;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
  });
  const auto lanes = lanesOf(events, {}), expected = lanesOf(sorted, {});
  EXPECT_EQ(expectAlike(lanes, expected), events.size());
}

// A list of spans is added as its events are, one by one: in order, late, long, at the end of time, negative.
TEST(LaneBuilder, ManyAtOnceAreAddedAsOneByOne) {
  std::mt19937_64 random(3);
  struct Added {
    std::vector<TimeNs> start, dur;
    std::vector<std::uint32_t> look;
  };
  std::vector<Added> lists(40);
  TimeNs now = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (int i = 0; i < 50; ++i) {
      now += static_cast<TimeNs>(random() % 20);
      lists[list].start.push_back(now);
      lists[list].dur.push_back(static_cast<TimeNs>(random() % 15));
      lists[list].look.push_back(Lane::lookOf(static_cast<std::uint32_t>(list + 1), kColor));
    }
    std::ranges::sort(lists[list].dur, std::greater<>());  // those that start together: the longer first
  }
  lists[5].start[0] -= 200;                     // before the end of the list before
  lists[7].start[20] = lists[7].start[19] - 1;  // within a list
  lists[9].dur[49] = 5'000'000'000;             // too long for the column
  lists[11].dur[3] = -1;
  lists.back().start[49] = INT64_MAX - 3;
  LaneBuilder at_once, one_by_one;
  for (const Added& list : lists) {
    at_once.add(list.start, list.dur, list.look);
    for (std::size_t i = 0; i < list.start.size(); ++i)
      one_by_one.add(list.start[i], list.dur[i], list.look[i]);
  }
  at_once.add(std::vector<TimeNs>(), std::vector<TimeNs>(), std::vector<std::uint32_t>());
  const auto lanes = at_once.finish(), expected = one_by_one.finish();
  EXPECT_EQ(expectAlike(lanes, expected), 2000U);
  EXPECT_TRUE(
      std::ranges::any_of(lanes, [](const Lane& lane) { return lane.columns().long_dur.size() > 0; }));
}

TEST(LaneBuilder, TimesAtTheEdgeOfTheirType) {
  LaneBuilder builder;
  builder.add(INT64_MIN, 5, Lane::lookOf(1, kColor));
  for (int i = 0; i < 1000; ++i) builder.add(i * 1'000'000'000'000'000LL, 7, Lane::lookOf(1, kColor));
  builder.add(INT64_MAX - 3, 100, Lane::lookOf(1, kColor));
  const auto lanes = builder.finish();
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].endNs(1001), INT64_MAX);
  std::vector<std::uint32_t> row(100);
  LaneRenderer renderer(Palette::light());
  renderer.draw(lanes[0], TilePyramid(lanes[0]), View{-9.3e18, 1.9e17, 100}, row);
  EXPECT_NE(row[0], Palette::light().background);
  EXPECT_NE(row[97], Palette::light().background);
  EXPECT_EQ(row[20], Palette::light().background);
}

TEST(TilePyramid, ManyInstantsAtOneTime) {
  Lane lane;
  for (int i = 0; i < 5000; ++i) lane.append(42, 0, 1, kColor);
  const TilePyramid pyramid(lane);
  std::vector<std::uint32_t> row(100);
  LaneRenderer renderer(Palette::light());
  renderer.draw(lane, pyramid, View{0, 1, 100}, row);
  EXPECT_NE(row[42], Palette::light().background);
  EXPECT_LT(pyramid.memoryBytes(), 8192U);
}

}  // namespace
}  // namespace pitwall::gui::lane_test
