// The timeline without a display: lanes, level of detail, view, rows, search, aggregation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "gui/timeline/aggregate.h"
#include "gui/timeline/row_layout.h"
#include "gui/timeline/search.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui::timeline_test {
namespace {

constexpr ColorIndex kColor = 3;

TEST(Viewport, ZoomKeepsTheTimeUnderTheMouse) {
  Viewport viewport;
  viewport.setWidth(1000);
  viewport.setBounds(0, 1'000'000);
  const double before = viewport.view().timeAt(300);
  viewport.zoomAt(300, 0.1);
  EXPECT_NEAR(viewport.view().timeAt(300), before, viewport.view().ns_per_px / 2);
  EXPECT_NEAR(viewport.view().ns_per_px, 110, 1e-6);
}

TEST(Viewport, BeginsWithAWholePixelAndForgetsNoSmallMovement) {
  Viewport viewport;
  viewport.setWidth(1000);
  viewport.setBounds(12'345, 1'000'000);
  viewport.show(40'000, 50'000);
  const double before = viewport.view().start_ns;
  for (int i = 0; i < 10; ++i) {
    viewport.panBy(0.3);
    const double pixels = viewport.view().start_ns / viewport.view().ns_per_px;
    EXPECT_NEAR(pixels, std::round(pixels), 1e-6);
  }
  EXPECT_NEAR(viewport.view().start_ns - before, 3 * viewport.view().ns_per_px, viewport.view().ns_per_px);
}

TEST(Viewport, UndoAndRedo) {
  Viewport viewport;
  viewport.setWidth(1000);
  viewport.setBounds(0, 1'000'000);
  const View whole = viewport.view();
  viewport.remember();
  viewport.show(1000, 2000);
  const View near = viewport.view();
  EXPECT_TRUE(viewport.undo());
  EXPECT_EQ(viewport.view().ns_per_px, whole.ns_per_px);
  EXPECT_FALSE(viewport.undo());
  EXPECT_TRUE(viewport.redo());
  EXPECT_EQ(viewport.view().start_ns, near.start_ns);
  EXPECT_FALSE(viewport.redo());
}

TEST(Viewport, StaysWithTheTrace) {
  Viewport viewport;
  viewport.setWidth(100);
  viewport.setBounds(0, 1000);
  for (int i = 0; i < 100; ++i) viewport.panBy(1000);
  EXPECT_LT(viewport.view().start_ns, 1000);
  for (int i = 0; i < 100; ++i) viewport.zoomAt(50, 10);
  EXPECT_LE(viewport.view().ns_per_px, 11);
}

TEST(TimeAxis, RoundTicks) {
  const auto ticks = ticksOf(View{0, 1000, 1000}, 100);
  ASSERT_EQ(ticks.size(), 11U);
  EXPECT_EQ(ticks[0].label, "0");
  EXPECT_EQ(ticks[1].label, "100 us");
  EXPECT_EQ(ticks[10].label, "1.0 ms");
  EXPECT_EQ(showMoment(1'234'567'890, 1), "1.234567890 s");
}

std::shared_ptr<Timeline> smallTimeline() {
  auto timeline = std::make_shared<Timeline>();
  timeline->names = {"", "conv1", "Pool", "conv2"};
  timeline->processes = {{"one"}, {"two"}};
  for (std::size_t t = 0; t < 4; ++t) {
    TimelineTrack track;
    track.id = TrackId{static_cast<std::uint32_t>(t + 1)};
    track.process = t / 2;
    track.title = t == 3 ? "Stream 7" : "worker " + std::to_string(t);
    Lane top, below;
    for (int i = 0; i < 10; ++i) {
      top.append(i * 100, 50, static_cast<std::uint32_t>(1 + i % 3), kColor);
      below.append(i * 100 + 10, 10, 2, kColor);
    }
    track.events = 20;
    track.lanes = {top, below};
    track.pyramids = {TilePyramid(top), TilePyramid(below)};
    timeline->tracks.push_back(std::move(track));
  }
  timeline->events = 80;
  timeline->end_ns = 1000;
  return timeline;
}

TEST(RowLayout, OpensClosesPinsHidesMovesFilters) {
  RowLayout rows;
  rows.setMetrics({.lane = 10, .process = 20, .counter = 40, .gap = 0});
  rows.setTimeline(smallTimeline());
  ASSERT_EQ(rows.rows().size(), 6U);
  EXPECT_EQ(rows.height(), 2 * 20 + 4 * 20);
  EXPECT_EQ(rows.rowAt(25), 1);
  EXPECT_EQ(rows.rowAt(rows.height()), -1);

  rows.toggleOpen(Row(rows.rows()[1]));
  EXPECT_EQ(rows.rows()[1].height, 10);
  rows.toggleOpen(Row(rows.rows()[0]));
  EXPECT_EQ(rows.rows().size(), 4U);
  rows.setAllOpen(true);

  rows.togglePinned(3);
  EXPECT_EQ(rows.rows()[0].index, 3U);
  EXPECT_TRUE(rows.rows()[0].pinned);
  rows.togglePinned(3);

  rows.setHidden(0, true);
  EXPECT_EQ(rows.rowOfTrack(0), -1);
  EXPECT_EQ(rows.hiddenCount(), 1U);
  rows.showHidden();

  EXPECT_TRUE(rows.move(0, 1));
  EXPECT_EQ(rows.rows()[1].index, 1U);
  EXPECT_FALSE(rows.move(0, 1)) << "the next row is another process'";

  rows.setFilter("STREAM 7");
  ASSERT_EQ(rows.rows().size(), 2U);
  EXPECT_EQ(rows.rows()[1].index, 3U);
}

TEST(Search, GoesThroughEveryHitInOrderOfTimeAndBeginsAgain) {
  const auto timeline = smallTimeline();
  const auto names = matchingNames(*timeline, "CONV");
  EXPECT_EQ(countEvents(*timeline, names), 4U * 7U);
  std::optional<EventRef> at;
  TimeNs last = -1;
  for (int i = 0; i < 28; ++i) {
    at = findEvent(*timeline, names, at, true);
    ASSERT_TRUE(at.has_value());
    const TimeNs start = timeline->tracks[at->track].lanes[at->lane].startNs(at->index);
    EXPECT_GE(start, last);
    last = start;
  }
  EXPECT_EQ(findEvent(*timeline, names, at, true), (EventRef{0, 0, 0}));
  EXPECT_EQ(findEvent(*timeline, names, EventRef{0, 0, 0}, false), at);
  EXPECT_EQ(findEvent(*timeline, matchingNames(*timeline, "nothing"), std::nullopt, true), std::nullopt);
}

TEST(Neighbours, AroundInsideNextAndOfTheSameName) {
  const auto timeline = smallTimeline();
  EXPECT_EQ(childOf(*timeline, {0, 0, 4}), (EventRef{0, 1, 4}));
  EXPECT_EQ(parentOf(*timeline, {0, 1, 4}), (EventRef{0, 0, 4}));
  EXPECT_EQ(parentOf(*timeline, {0, 0, 4}), std::nullopt);
  EXPECT_EQ(neighbour(*timeline, {0, 0, 4}, true, false), (EventRef{0, 0, 5}));
  EXPECT_EQ(neighbour(*timeline, {0, 0, 4}, false, true), (EventRef{0, 0, 1}));
  EXPECT_EQ(neighbour(*timeline, {0, 0, 9}, true, false), std::nullopt);
}

TEST(HitTest, PrefersWhatIsUnderTheMouseThenTheLongest) {
  Lane lane;
  lane.append(0, 10, 1, 0);
  lane.append(20, 300, 1, 0);
  lane.append(400, 5, 1, 0);
  const View view{0, 10, 100};
  EXPECT_EQ(hitTest(lane, view, 0)->index, 0U);
  EXPECT_EQ(hitTest(lane, view, 10)->index, 1U);
  EXPECT_EQ(hitTest(lane, view, 42)->index, 2U);
  EXPECT_FALSE(hitTest(lane, view, 80).has_value());
  EXPECT_EQ(hitTest(lane, View{0, 1000, 100}, 0)->count, 3U);
}

// Against the plain sum over all events.
TEST(Aggregate, AddsUpWhatTouchesTheRange) {
  const auto timeline = smallTimeline();
  const auto rows = aggregate(*timeline, {0, 2}, 120, 530);
  TimeNs total = 0;
  std::int64_t count = 0;
  for (const AggregateRow& row : rows) {
    total += row.total_ns;
    count += row.count;
  }
  TimeNs expected = 0;
  std::int64_t expected_count = 0;
  for (const std::size_t t : {0UL, 2UL}) {
    for (const Lane& lane : timeline->tracks[t].lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        const TimeNs part = std::min<TimeNs>(lane.endNs(i), 530) - std::max<TimeNs>(lane.startNs(i), 120);
        if (part <= 0) continue;
        expected += part;
        ++expected_count;
      }
    }
  }
  EXPECT_EQ(total, expected);
  EXPECT_EQ(count, expected_count);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; }));
}

// Percentiles and extremes against sorting, for short, long and very long durations; from the events of the
// range, and from what is known of all events less those outside.
TEST(Aggregate, AgreesWithSorting) {
  std::mt19937_64 random(13);
  Timeline timeline;
  timeline.names.resize(40);
  TimelineTrack track;
  for (int l = 0; l < 3; ++l) {
    Lane lane;
    TimeNs at = 0;
    for (int i = 0; i < 4000; ++i) {
      const auto dur = static_cast<TimeNs>(random() % (1ULL << (random() % (i % 100 == 0 ? 36 : 14))));
      lane.append(at, dur, static_cast<std::uint32_t>(1 + random() % 39), kColor);
      at += dur + static_cast<TimeNs>(random() % 100);
    }
    track.lanes.push_back(std::move(lane));
  }
  timeline.tracks.push_back(std::move(track));
  timeline.tracks.push_back(timeline.tracks[0]);  // not asked for
  timeline.tracks[1].lanes.resize(1);
  const auto& lanes = timeline.tracks[0].lanes;
  const TimeNs from = lanes[0].startNs(500) + 3, to = lanes[0].startNs(3500) + 1;
  std::vector<std::vector<TimeNs>> durations(40);
  std::vector<TimeNs> totals(40);
  for (const Lane& lane : lanes) {
    for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i) {
      durations[lane.name(i)].push_back(lane.durNs(i));
      totals[lane.name(i)] += std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from);
    }
  }
  const auto agrees = [&](const std::vector<AggregateRow>& rows) {
    EXPECT_EQ(rows.size(), 39U);
    for (const AggregateRow& row : rows) {
      const AggregateRow expected = summarize(row.name, totals[row.name], durations[row.name]);
      EXPECT_EQ(row.count, expected.count);
      EXPECT_EQ(row.total_ns, expected.total_ns);
      EXPECT_EQ(row.mean_ns, expected.mean_ns);
      EXPECT_EQ(row.min_ns, expected.min_ns);
      EXPECT_EQ(row.max_ns, expected.max_ns);
      EXPECT_EQ(row.p50_ns, expected.p50_ns);
      EXPECT_EQ(row.p99_ns, expected.p99_ns);
    }
  };
  const auto rows = aggregate(timeline, {0}, from, to);
  agrees(rows);
  timeline.classes = classesOfAll(timeline);
  for (const Lane& lane : lanes) timeline.events += lane.size();
  agrees(aggregate(timeline, {0}, from, to));
  timeline.names.resize(30'000);  // too many for tables
  const auto listed = aggregate(timeline, {0}, from, to);
  ASSERT_EQ(listed.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(listed[i].name, rows[i].name);
    EXPECT_EQ(listed[i].p99_ns, rows[i].p99_ns);
  }
}

}  // namespace
}  // namespace pitwall::gui::timeline_test
