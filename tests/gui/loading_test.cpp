// Loading a timeline: long tracks, very many tracks, and stopping.
#include <gtest/gtest.h>

#include <random>

#include "db/store.h"
#include "gui/timeline/lane_canvas.h"
#include "gui/timeline/row_layout.h"
#include "tests/support/temp_folder.h"

namespace pitwall::gui::loading_test {
namespace {

std::shared_ptr<const Timeline> loaded(const std::string& path) {
  const auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value());
  auto timeline = loadTimeline(**trace);
  EXPECT_TRUE(timeline.has_value());
  return timeline.has_value() ? *timeline : nullptr;
}

// Of each track, `events` nested ones.
void write(const std::string& path, int tracks, int events) {
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& to = **sink;
  const ProcessId process = to.process({1, "toy", "", 0});
  const StringId names[] = {to.string("step"), to.string("wait")};
  std::mt19937_64 random(31);
  std::vector<Event> made;
  for (int t = 0; t < tracks; ++t) {
    const ThreadId thread = to.thread({process, t + 1, "thread " + std::to_string(t)});
    const TrackId track = to.track({TrackKind::thread, process, thread, {}, "", ""});
    made.clear();
    for (int i = 0; i < events; ++i) {
      const auto dur = static_cast<TimeNs>(i % 2 == 0 ? 900 : random() % 400);
      made.push_back({.start_ns = t + i / 2 * 1000 + i % 2 * 300, .dur_ns = dur, .name = names[i % 2]});
    }
    to.events(track, made);
  }
  ASSERT_TRUE(to.finish().has_value());
}

// Those whose lanes are made on their own thread are the same as those of a list of events.
TEST(Loading, LongAndShortTracksAreComplete) {
  const test::TempFolder folder;
  for (const int events : {30'000, 300}) {
    const std::string path = folder / std::to_string(events);
    write(path, 4, events);
    const auto timeline = loaded(path);
    ASSERT_NE(timeline, nullptr);
    const auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value());
    ASSERT_EQ(timeline->tracks.size(), 4U);
    EXPECT_EQ(timeline->events, 4U * static_cast<std::size_t>(events));
    EXPECT_EQ(timeline->begin_ns, 0);
    for (const TimelineTrack& track : timeline->tracks) {
      const auto expected = lanesOf((*trace)->events(track.id).value(), {});
      ASSERT_EQ(track.lanes.size(), 2U);
      ASSERT_EQ(expected.size(), 2U);
      ASSERT_EQ(track.pyramids.size(), 2U);
      ASSERT_EQ(track.name_indices.size(), 2U);
      for (std::size_t l = 0; l < 2; ++l) {
        ASSERT_EQ(track.lanes[l].size(), expected[l].size());
        for (std::size_t i = 0; i < expected[l].size(); ++i) {
          ASSERT_EQ(track.lanes[l].startNs(i), expected[l].startNs(i));
          ASSERT_EQ(track.lanes[l].durNs(i), expected[l].durNs(i));
          ASSERT_EQ(track.lanes[l].name(i), expected[l].name(i));
        }
      }
    }
  }
}

TEST(Loading, StopsWhenItIsTold) {
  const test::TempFolder folder;
  const std::string path = folder / "a.pitwall";
  write(path, 6, 25'000);
  const auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  for (const double at : {0.0, 0.5, 0.9}) {
    std::atomic<bool> cancel = false;
    const auto stopped =
        loadTimeline(**trace, {.progress = [&](double share) { cancel = share >= at; }, .cancel = &cancel});
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  }
  EXPECT_TRUE(loadTimeline(**trace).has_value());
}

TEST(Loading, AHundredThousandTracks) {
  constexpr int kTracks = 100'000;
  const test::TempFolder folder;
  const std::string path = folder / "many.pitwall";
  write(path, kTracks, 2);
  const auto timeline = loaded(path);
  ASSERT_NE(timeline, nullptr);
  EXPECT_EQ(timeline->events, 2U * kTracks);
  RowLayout rows;
  rows.setTimeline(timeline);
  EXPECT_EQ(rows.rows().size(), kTracks + 1U);
  const Row last = rows.rows().back();
  EXPECT_EQ(rows.rowAt(last.y), kTracks);
  std::vector<CanvasLane> lanes;
  for (const Row& row : rows.rows()) {
    if (row.is_process) continue;
    const TimelineTrack& track = timeline->tracks[row.index];
    lanes.push_back({row.y, row.height, track.lanes.data(), track.pyramids.data()});
  }
  LaneCanvas canvas(Palette::light());
  canvas.resize(200, 100);
  canvas.setLanes(std::move(lanes));
  canvas.show(1000, 0, last.y);  // the last track is in sight
  EXPECT_NE(canvas.at(100, 1), Palette::light().background);
  rows.setFilter("99999");
  EXPECT_EQ(rows.rows().size(), 2U);
}

}  // namespace
}  // namespace pitwall::gui::loading_test
