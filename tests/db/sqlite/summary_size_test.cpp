// The sizes from which chunks of events get a summary, and at which nodes of a track are drawn as one.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::summary_size_test {
namespace {

// A trace of one track and one chunk: adjacent events of 10 ns, changed by `change`.
class OneChunk {
 public:
  using Change = std::function<void(TraceSink&, int number, Event&)>;

  explicit OneChunk(
      int count, const Change& change = [](TraceSink&, int, Event&) {}) {
    const std::string path = folder_ / "a.pitwall";
    auto sink = mustCreate(path, {.chunk_events = 1 << 14});
    std::vector<Event> events;
    for (int i = 0; i < count; ++i) {
      Event event{.start_ns = 10 * i, .dur_ns = 10};
      change(*sink, i, event);
      events.push_back(event);
    }
    sink->events(sink->track({}), events);
    EXPECT_TRUE(sink->finish().has_value());
    sink.reset();
    trace_ = mustOpen(path);
    EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM event_chunk"), 1);
  }

  std::int64_t count(const std::string& sql) { return mustCount(*trace_, sql); }

  // The events of each bin; `width_ns` is the width of a bin.
  std::vector<std::int64_t> binEvents(TimeNs from_ns, TimeNs width_ns, int bins) {
    BinRequest request;
    request.track = TrackId{1};
    request.from_ns = from_ns;
    request.to_ns = from_ns + width_ns * bins;
    request.bins = bins;
    std::vector<std::int64_t> events(static_cast<std::size_t>(bins), -1);  // -1: the bin is empty
    const auto found = trace_->eventBins(request);
    EXPECT_TRUE(found.has_value());
    for (const EventBin& bin : *found) events[static_cast<std::size_t>(bin.bin)] = bin.events;
    return events;
  }

 private:
  TempFolder folder_;
  std::unique_ptr<Trace> trace_;
};

using Bins = std::vector<std::int64_t>;

TEST(SummarySize, ChunksOfLessThan256EventsHaveNone) {
  EXPECT_EQ(OneChunk(255).count("SELECT count(*) FROM event_summary"), 0);
  EXPECT_EQ(OneChunk(256).count("SELECT count(*) FROM event_summary"), 1);
}

TEST(SummarySize, ANodeHas64EventsOfADepth) {
  EXPECT_EQ(OneChunk(256).count("SELECT node_count FROM event_summary"), 4);
  EXPECT_EQ(OneChunk(257).count("SELECT node_count FROM event_summary"), 5);
}

TEST(SummarySize, NodesAreStoredUpToOneForSixteenEvents) {
  const auto depths = [](int deepest) {
    return [deepest](TraceSink&, int i, Event& event) {
      event.depth = static_cast<std::uint16_t>(i % (deepest + 1));
    };
  };
  EXPECT_EQ(OneChunk(256, depths(15)).count("SELECT node_count FROM event_summary"), 16);
  EXPECT_EQ(OneChunk(256, depths(16)).count("SELECT node_count FROM event_summary"), 0);
}

TEST(SummarySize, GroupsAreStoredUpToOneForEightEvents) {
  const auto names = [](int different) {
    return [different](TraceSink& sink, int i, Event& event) {
      event.name = sink.string("name " + std::to_string(i % different));
    };
  };
  EXPECT_EQ(OneChunk(256, names(32)).count("SELECT group_count FROM event_summary"), 32);
  EXPECT_EQ(OneChunk(256, names(33)).count("SELECT group_count FROM event_summary"), 0);
}

// A node covers 640 ns and begins in the middle of a bin. Drawn as one, its events count where it begins.
TEST(ZoomLevel, ANodeNoWiderThanABinIsDrawnAsOne) {
  OneChunk chunk(256);
  EXPECT_EQ(chunk.binEvents(-320, 640, 5), (Bins{64, 64, 64, 64, 0}));
  EXPECT_EQ(chunk.binEvents(-320, 639, 5), (Bins{32, 64, 64, 64, 32})) << "each event where it begins";
}

// Sixteen nodes make one of the level above, of 10240 ns.
TEST(ZoomLevel, TheCoarsestLevelThatIsNoWiderThanABinIsDrawn) {
  OneChunk chunk(2048);
  EXPECT_EQ(chunk.binEvents(-5120, 10240, 3), (Bins{1024, 1024, 0}));
  EXPECT_EQ(chunk.binEvents(-5120, 10239, 3), (Bins{512, 1024, 512})) << "each node where it begins";
}

// A node that reaches beyond the range is never drawn as one, since only a part of its events is within.
TEST(ZoomLevel, ANodeAtTheEdgeOfTheRangeIsDrawnEventByEvent) {
  OneChunk chunk(256);
  EXPECT_EQ(chunk.binEvents(320, 4000, 1), (Bins{224})) << "of the first node, the later half";
  EXPECT_EQ(chunk.binEvents(-3760, 4000, 1), (Bins{24})) << "of the first node, the events before 240 ns";
}

}  // namespace
}  // namespace pitwall::test::summary_size_test
