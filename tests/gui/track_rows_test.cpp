// Titles and order of rows: counters below their thread or device, titles that distinguish.
#include "gui/timeline/track_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "db/store.h"
#include "gui/timeline/name_groups.h"
#include "gui/timeline/row_layout.h"
#include "tests/support/temp_folder.h"

namespace pitwall::gui::track_rows_test {
namespace {

class TrackRowsTest : public ::testing::Test {
 protected:
  // Two workers of one name that are only sampled, a main thread with an event, a device with a stream.
  std::shared_ptr<const Timeline> sampled() {
    const std::string path = folder_ / "sampled.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const DeviceId gpu = trace.device({"gpu", 0, "a device", 0});
    const auto counter = [&](ThreadId thread, DeviceId device, const char* name, const char* unit) {
      const TrackId track = trace.track({TrackKind::counter, process, thread, device, name, unit});
      trace.counters(track, std::vector<CounterSample>{{0, 1}, {500, 2}});
    };
    counter({}, {}, "resident memory", "bytes");
    for (const int tid : {11, 12}) {
      const ThreadId worker = trace.thread({process, tid, "python3"});
      counter(worker, {}, "cpu", "share");
      counter(worker, {}, "cpu number", "");
    }
    counter({}, gpu, "power", "W");
    const ThreadId main = trace.thread({process, 1, "main"});
    counter(main, {}, "cpu", "share");
    const TrackId thread = trace.track({TrackKind::thread, process, main, {}, "", ""});
    const TrackId stream = trace.track({TrackKind::stream, process, {}, gpu, "stream 7", ""});
    const StringId name = trace.string("x");
    trace.events(thread, std::vector<Event>{{.start_ns = 0, .dur_ns = 100, .name = name}});
    trace.events(stream, std::vector<Event>{{.start_ns = 0, .dur_ns = 100, .name = name}});
    EXPECT_TRUE(trace.finish().has_value());
    auto opened = Trace::open(path);
    EXPECT_TRUE(opened.has_value());
    auto timeline = loadTimeline(**opened);
    EXPECT_TRUE(timeline.has_value());
    return timeline.value();
  }
  static std::vector<std::string> titles(const Timeline& timeline, const RowLayout& rows) {
    std::vector<std::string> all;
    for (const Row& row : rows.rows()) {
      all.push_back(row.is_process ? "= " + timeline.processes[row.index].title
                    : row.nested   ? "  " + timeline.tracks[row.index].label
                                   : timeline.tracks[row.index].title);
    }
    return all;
  }

  test::TempFolder folder_;
};

TEST_F(TrackRowsTest, CountersAreBelowTheirThreadOrDevice) {
  const auto timeline = sampled();
  RowLayout rows;
  rows.setTimeline(timeline);
  using Titles = std::vector<std::string>;
  // Threads without events show one row until they are opened.
  EXPECT_EQ(titles(*timeline, rows),
            (Titles{"= toy (1)", "gpu 0 stream 7", "gpu 0 power (W)", "main", "  cpu (share)", "python3 (11)",
                    "python3 (12)", "resident memory (bytes)", "= CPUs", "CPU 2, as sampled (share)"}));
  const auto row = std::ranges::find_if(rows.rows(), [&](const Row& r) {
    return !r.is_process && timeline->tracks[r.index].title == "python3 (12)";
  });
  rows.toggleOpen(Row(*row));
  EXPECT_EQ(titles(*timeline, rows),
            (Titles{"= toy (1)", "gpu 0 stream 7", "gpu 0 power (W)", "main", "  cpu (share)", "python3 (11)",
                    "python3 (12)", "  cpu (share)", "  cpu number", "resident memory (bytes)", "= CPUs",
                    "CPU 2, as sampled (share)"}));
  rows.setFilter("cpu number");
  EXPECT_EQ(titles(*timeline, rows), (Titles{"= toy (1)", "  cpu number", "  cpu number"}))
      << "what was filtered for is shown though its thread is closed";
}

TEST_F(TrackRowsTest, AThreadMovesWithItsCounters) {
  const auto timeline = sampled();
  RowLayout rows;
  rows.setTimeline(timeline);
  const auto trackOf = [&](const std::string& title) {
    return static_cast<std::size_t>(std::ranges::find(timeline->tracks, title, &TimelineTrack::title) -
                                    timeline->tracks.begin());
  };
  EXPECT_TRUE(rows.move(trackOf("main"), 1));
  EXPECT_EQ(titles(*timeline, rows)[4], "main");
  EXPECT_EQ(titles(*timeline, rows)[5], "  cpu (share)");
  EXPECT_TRUE(rows.move(trackOf("main"), -1));
  EXPECT_FALSE(rows.move(trackOf("main: cpu (share)"), 1)) << "a counter stays with its thread";
  // What was opened, closed and moved comes back.
  rows.togglePinned(trackOf("python3 (11): cpu number"));
  EXPECT_TRUE(rows.move(trackOf("python3 (12)"), -1));
  RowLayout again;
  again.setTimeline(timeline);
  again.restore(rows.kept());
  EXPECT_EQ(titles(*timeline, again), titles(*timeline, rows));
}

TEST_F(TrackRowsTest, TitlesDifferWithinTheirDistinctPart) {
  Timeline timeline;
  timeline.processes.resize(1);
  for (const char* title : {"gpu 0 stream 7: synchronisation", "gpu 0 stream 15: synchronisation",
                            "gpu 0 stream 15: NVTX", "gpu 0 stream 7"}) {
    TimelineTrack track;
    track.kind = TrackKind::stream;
    track.title = title;
    timeline.tracks.push_back(track);
  }
  arrangeTracks(timeline);
  std::vector<std::string> parts;
  for (const TimelineTrack& track : timeline.tracks)
    parts.push_back(track.title.substr(0, track.distinct_to));
  std::ranges::sort(parts);
  EXPECT_EQ(parts, (std::vector<std::string>{"gpu 0 stream 15: NVTX", "gpu 0 stream 15: synchronisation",
                                             "gpu 0 stream 7", "gpu 0 stream 7: synchronisation"}));
}

TEST(NameGroups, NumbersThatMeanNothingAreLeftOut) {
  EXPECT_EQ(groupOfName("aten::mul, seq = 45943, op_id = 993066"), "aten::mul");
  EXPECT_EQ(groupOfName("aten::add, op_id = 3, sizes = [[2, 3]]"), "aten::add, sizes = [[2, 3]]");
  EXPECT_EQ(groupOfName("ProfilerStep#12"), "ProfilerStep#*");
  EXPECT_EQ(groupOfName("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step");
  EXPECT_EQ(groupOfName("lambda at 0x7f12ab34cd"), "lambda at *");
  EXPECT_EQ(groupOfName("mask 0xff"), "mask 0xff");
  EXPECT_EQ(groupOfName("void gemm<4, float, 128>(int)"), "void gemm<4, float, 128>(int)");
  EXPECT_EQ(groupOfName(""), "");
  const NameGroups groups = groupNames({"", "step#1", "step#2", "conv"});
  EXPECT_EQ(groups.titles, (std::vector<std::string>{"", "step#*", "conv"}));
  EXPECT_EQ(groups.group_of, (std::vector<std::uint32_t>{0, 1, 1, 2}));
  EXPECT_TRUE(groups.any);
  EXPECT_FALSE(groupNames({"", "a", "b"}).any);
}

}  // namespace
}  // namespace pitwall::gui::track_rows_test
