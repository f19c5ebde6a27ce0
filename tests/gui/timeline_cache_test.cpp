// The viewer's cache of a trace: it returns what was written, or is not used.
#include "gui/timeline/timeline_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "db/store.h"
#include "gui/timeline/lane_renderer.h"
#include "gui/timeline/search.h"

namespace pitwall::gui::timeline_cache_test {
namespace {

// A trace in its own folder, with nested, overlapping and long events.
class TimelineCache : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/timeline_cache_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    write(5000);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(int events) {
    std::filesystem::remove(path());
    auto sink = createTrace(path());
    ASSERT_TRUE(sink.has_value());
    TraceSink& to = *sink.value();
    const ProcessId process = to.process({.pid = 1, .name = "train", .command_line = "train"});
    std::mt19937_64 random(4);
    // Not a row; the ids of the others do not begin with 1.
    const CounterSample stacks[] = {{1, 1.0}, {3, 2.0}};
    to.counters(to.track({TrackKind::counter, process, {}, {}, "stacks", kStackUnit}), stacks);
    for (int t = 0; t < 3; ++t) {
      TrackInfo track;
      track.kind = t == 2 ? TrackKind::counter : TrackKind::thread;
      track.process = process;
      track.name = "track " + std::to_string(t);
      const TrackId id = to.track(track);
      if (t == 2) {
        const CounterSample samples[] = {{1, 2.0}, {3, 4.0}};
        to.counters(id, samples);
        continue;
      }
      std::vector<Event> made;
      for (int i = 0; i < events; ++i) {
        Event event;
        event.start_ns = event.pushed_ns = event.ready_ns = i * 100;
        event.dur_ns = i == 7 ? 5'000'000'000 : static_cast<TimeNs>(random() % 180);
        event.name = to.string("name " + std::to_string(random() % 50));
        made.push_back(event);
      }
      to.events(id, made);
    }
    ASSERT_TRUE(to.finish().has_value());
  }
  std::string path() const { return folder_ + "/a.pitwall"; }
  std::string cache() const { return folder_ + "/cache"; }
  std::filesystem::path cached() const { return std::filesystem::directory_iterator(cache())->path(); }

  std::shared_ptr<const Timeline> load() {
    auto trace = Trace::open(path());
    EXPECT_TRUE(trace.has_value());
    LoadControl control;
    control.cache_folder = cache();
    auto timeline = loadTimeline(*trace.value(), control);
    EXPECT_TRUE(timeline.has_value());
    const auto identity = traceIdentity(*trace.value());
    EXPECT_TRUE(identity.has_value());
    if (!timeline.value()->from_cache) {
      EXPECT_TRUE(writeTimelineCache(cache(), identity.value_or(""), *timeline.value()).has_value());
    }
    return timeline.value();
  }

  std::string folder_;
};

void expectSame(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.name_counts, b.name_counts);
  EXPECT_EQ(a.begin_ns, b.begin_ns);
  EXPECT_EQ(a.end_ns, b.end_ns);
  ASSERT_EQ(a.tracks.size(), b.tracks.size());
  for (std::size_t t = 0; t < a.tracks.size(); ++t) {
    const TimelineTrack &x = a.tracks[t], &y = b.tracks[t];
    EXPECT_EQ(x.title, y.title);
    EXPECT_EQ(x.events, y.events);
    EXPECT_EQ(x.counter.size(), y.counter.size());
    ASSERT_EQ(x.lanes.size(), y.lanes.size());
    for (std::size_t l = 0; l < x.lanes.size(); ++l) {
      ASSERT_EQ(x.lanes[l].size(), y.lanes[l].size());
      for (std::size_t i = 0; i < x.lanes[l].size(); ++i) {
        ASSERT_EQ(x.lanes[l].startNs(i), y.lanes[l].startNs(i));
        ASSERT_EQ(x.lanes[l].durNs(i), y.lanes[l].durNs(i));
        ASSERT_EQ(x.lanes[l].look(i), y.lanes[l].look(i));
      }
      EXPECT_EQ(x.name_indices[l].bits().size(), y.name_indices[l].bits().size());
      std::vector<std::uint32_t> left(300), right(300);
      LaneRenderer renderer(Palette::light());
      for (const double ns_per_px : {0.5, 30.0, 2000.0}) {
        renderer.draw(x.lanes[l], x.pyramids[l], View{10'000, ns_per_px, 300}, left);
        renderer.draw(y.lanes[l], y.pyramids[l], View{10'000, ns_per_px, 300}, right);
        EXPECT_EQ(left, right);
      }
    }
  }
}

TEST_F(TimelineCache, NumbersOfStacksAreNoRow) {
  for (const bool from_cache : {false, true}) {
    const auto timeline = load();
    EXPECT_EQ(timeline->from_cache, from_cache);
    ASSERT_EQ(timeline->tracks.size(), 3U);
    for (const TimelineTrack& track : timeline->tracks) EXPECT_NE(track.unit, kStackUnit);
    EXPECT_EQ(timeline->events, 10'000U);
  }
}

TEST_F(TimelineCache, ReopenedIsWhatWasLoaded) {
  const auto fresh = load(), again = load();
  EXPECT_FALSE(fresh->from_cache);
  EXPECT_TRUE(again->from_cache);
  expectSame(*fresh, *again);
}

TEST_F(TimelineCache, CountsOfNamesAreThoseOfAScan) {
  Timeline timeline = *load();
  const auto names = matchingNames(timeline, "NAME 1");
  const std::size_t counted = countEvents(timeline, names);
  timeline.name_counts.clear();
  EXPECT_GT(counted, 0U);
  EXPECT_EQ(counted, countEvents(timeline, names));
}

TEST_F(TimelineCache, AnotherTraceInItsPlaceIsLoaded) {
  load();
  write(4000);
  const auto other = load();
  EXPECT_FALSE(other->from_cache);
  EXPECT_EQ(other->events, 8000U);
}

TEST_F(TimelineCache, ADamagedOneIsNotUsed) {
  const auto fresh = load();
  const auto size = std::filesystem::file_size(cached());
  for (const std::uintmax_t at : {std::uintmax_t{0}, std::uintmax_t{9}, size / 3, size / 2, size - 5}) {
    {
      std::fstream file(cached(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 0x10));
    }
    const auto loaded = load();  // writes it anew
    EXPECT_FALSE(loaded->from_cache) << "byte " << at;
    expectSame(*fresh, *loaded);
    EXPECT_TRUE(load()->from_cache);
  }
  std::filesystem::resize_file(cached(), size / 2);
  EXPECT_FALSE(load()->from_cache);
  std::filesystem::resize_file(cached(), 0);
  EXPECT_FALSE(load()->from_cache);
}

TEST_F(TimelineCache, TheOldestGoesWhenThereAreTooMany) {
  const auto timeline = load();
  std::filesystem::last_write_time(cached(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const auto size = std::filesystem::file_size(cached());
  ASSERT_TRUE(writeTimelineCache(cache(), "/another\n", *timeline, size + size / 2).has_value());
  EXPECT_FALSE(load()->from_cache) << "the older one is gone";
}

}  // namespace
}  // namespace pitwall::gui::timeline_cache_test
