// Readers that use columns instead of rows: their results, and how little of the file they read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "db/sqlite/sql_query.h"
#include "db/sqlite/trace_data.h"
#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::columns_test {
namespace {

using store::TraceData;

std::int64_t valueAt(const SqlRows& rows, std::size_t row, std::size_t column) {
  return std::get<std::int64_t>(rows.rows.at(row).at(column));
}

class Columns : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    content_ = makeRandomTrace({.seed = 31, .events_per_track = 3000});
    path_ = folder_ / "a.pitwall";
    writeTrace(path_, content_, {.chunk_events = GetParam()});
    trace_ = mustOpen(path_);
    ASSERT_NE(trace_, nullptr);
  }

  TempFolder folder_;
  std::string path_;
  RandomTrace content_;
  std::unique_ptr<Trace> trace_;
};

// Chunks too small for a summary, with one, and one chunk per commit.
INSTANTIATE_TEST_SUITE_P(ChunkSizes, Columns, ::testing::Values(64, 512, 8192));

TEST_P(Columns, SpansAreTheEvents) {
  for (std::uint32_t track = 1; track <= 4; ++track) {
    std::vector<std::string> expected, found;
    for (const Event& event : content_.events[track - 1]) expected.push_back(describe(event));
    EventSelection selection;
    selection.track = TrackId{track};
    std::int64_t next_id = 0;
    const Status status = trace_->eventColumns(selection, [&](const EventSpans& s) {
      EXPECT_TRUE(std::ranges::is_sorted(s.start_ns));
      EXPECT_GT(s.first_id, next_id);
      next_id = s.first_id;
      for (std::size_t i = 0; i < s.size; ++i) found.push_back(describe(eventAt(s, i)));
      return true;
    });
    ASSERT_TRUE(status.has_value()) << status.error().message;
    std::ranges::sort(expected);
    std::ranges::sort(found);
    EXPECT_EQ(found, expected);
  }
}

TEST_P(Columns, ARangeHasEveryEventThatTouchesIt) {
  EventSelection selection;
  selection.track = TrackId{2};
  selection.from_ns = 400'000;
  selection.to_ns = 410'000;
  selection.fields = kStart | kDur;
  std::size_t touching = 0, seen = 0;
  for (const Event& e : content_.events[1])
    touching += e.start_ns < selection.to_ns && e.start_ns + e.dur_ns > selection.from_ns ? 1 : 0;
  std::size_t found = 0;
  ASSERT_TRUE(trace_
                  ->eventColumns(selection,
                                 [&](const EventSpans& s) {
                                   EXPECT_TRUE(s.name.empty()) << "not asked for";
                                   seen += s.size;
                                   for (std::size_t i = 0; i < s.size; ++i)
                                     found += s.start_ns[i] < selection.to_ns &&
                                                      s.start_ns[i] + s.dur_ns[i] > selection.from_ns
                                                  ? 1
                                                  : 0;
                                   return true;
                                 })
                  .has_value());
  EXPECT_GT(touching, 0u);
  EXPECT_EQ(found, touching);
  EXPECT_LT(seen, touching + 200) << "events far from the range";
}

TEST_P(Columns, EventsThatStartInARangeAreThoseAlone) {
  const EventSelection selection{
      .track = TrackId{2}, .from_ns = 400'000, .to_ns = 410'000, .fields = kStart, .starting = true};
  std::vector<TimeNs> expected, found;
  for (const Event& e : content_.events[1]) {
    if (e.start_ns >= selection.from_ns && e.start_ns < selection.to_ns) expected.push_back(e.start_ns);
  }
  const Status status = trace_->eventColumns(selection, [&](const EventSpans& s) {
    found.insert(found.end(), s.start_ns.begin(), s.start_ns.end());
    return true;
  });
  ASSERT_TRUE(status.has_value());
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(found, expected);
}

TEST_P(Columns, ChunksWithoutTheWantedCorrelationsAreLeftOut) {
  const auto read = [this](std::span<const CorrelationId> wanted) {
    std::vector<CorrelationId> all;
    const EventSelection selection{.track = TrackId{1}, .fields = kCorrelation, .correlations = wanted};
    const Status status = trace_->eventColumns(selection, [&](const EventSpans& s) {
      for (const std::int64_t c : s.correlation) all.push_back(static_cast<CorrelationId>(c));
      return true;
    });
    EXPECT_TRUE(status.has_value());
    return all;
  };
  const CorrelationId wanted[] = {7, 100, 299}, none[] = {301, 1ULL << 63};  // they are 0 to 300
  const auto count = [&](std::span<const CorrelationId> among) {
    return std::ranges::count_if(among,
                                 [&](CorrelationId c) { return std::ranges::binary_search(wanted, c); });
  };
  EXPECT_EQ(read({}).size(), content_.events[0].size());
  EXPECT_GT(count(read({})), 0);
  EXPECT_EQ(count(read(wanted)), count(read({})));
  EXPECT_TRUE(read(none).empty());
}

TEST_P(Columns, ChunksWithoutTheWantedTargetsAreLeftOut) {
  const auto read = [this](std::span<const CorrelationId> targets) {
    std::size_t seen = 0;
    const Status status =
        trace_->visitDependencies(DependencySelection{targets}, [&](std::span<const Dependency> some) {
          seen += some.size();
          return true;
        });
    EXPECT_TRUE(status.has_value());
    return seen;
  };
  CorrelationId greatest = 0;
  for (const Dependency& d : content_.dependencies) greatest = std::max(greatest, d.target);
  const CorrelationId last[] = {greatest}, beyond[] = {greatest + 1};
  EXPECT_EQ(read({}), content_.dependencies.size());
  EXPECT_GT(read(last), 0u);
  EXPECT_EQ(read(beyond), 0u);
}

TEST_P(Columns, AVisitorEndsTheReading) {
  EventSelection selection;
  selection.track = TrackId{1};
  int calls = 0;
  ASSERT_TRUE(trace_->eventColumns(selection, [&](const EventSpans&) { return ++calls < 1; }).has_value());
  EXPECT_EQ(calls, 1);
}

// Sums over all bins are exact at every zoom, and each bin's longest event is one that touches it or its
// neighbours.
TEST_P(Columns, BinsSumUpToTheEvents) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    BinRequest request;
    const std::uint32_t track = 1 + static_cast<std::uint32_t>(random() % 4);
    request.track = TrackId{track};
    request.from_ns = round == 0 ? -10 : static_cast<TimeNs>(random() % 900'000);
    request.to_ns =
        round == 0 ? 2'000'000 : request.from_ns + 1 + static_cast<TimeNs>(random() >> (44 + random() % 10));
    request.bins = 1 + static_cast<int>(random() % 700);
    if (round % 3 == 1) request.depth = static_cast<int>(random() % 6);
    std::int64_t events = 0, total = 0;
    for (const Event& e : content_.events[track - 1]) {
      if (request.depth.has_value() && e.depth != *request.depth) continue;
      events += e.start_ns >= request.from_ns && e.start_ns < request.to_ns ? 1 : 0;
      total += std::max<TimeNs>(
          0, std::min(e.start_ns + e.dur_ns, request.to_ns) - std::max(e.start_ns, request.from_ns));
    }
    const auto bins = trace_->eventBins(request);
    ASSERT_TRUE(bins.has_value()) << bins.error().message;
    std::int64_t found_events = 0, found_total = 0;
    int last = -1;
    for (const EventBin& bin : *bins) {
      EXPECT_GT(bin.bin, last);
      last = bin.bin;
      found_events += bin.events;
      found_total += bin.total_ns;
    }
    EXPECT_LT(last, request.bins);
    EXPECT_EQ(found_events, events) << round;
    EXPECT_EQ(found_total, total) << round;
  }
}

// Compared with a loop: no event is missing and none is drawn where there is none, with a tolerance of one
// bin.
TEST_P(Columns, NoEventIsInvisible) {
  BinRequest request;
  request.track = TrackId{3};
  request.from_ns = 0;
  request.to_ns = 1'010'000;
  request.bins = 10'100;  // of 100 ns
  request.depth = 2;
  std::vector<int> truth(10'100, 0), drawn(10'100, 0);
  for (const Event& e : content_.events[2]) {
    if (e.depth != 2) continue;
    for (TimeNs at = e.start_ns / 100;
         at <= std::max(e.start_ns, e.start_ns + e.dur_ns - 1) / 100 && at < 10'100; ++at)
      truth[static_cast<std::size_t>(at)] = 1;
  }
  const auto bins = trace_->eventBins(request);
  ASSERT_TRUE(bins.has_value());
  for (const EventBin& bin : *bins) drawn[static_cast<std::size_t>(bin.bin)] = 1;
  for (std::size_t i = 1; i + 1 < truth.size(); ++i) {
    const int near_truth = truth[i - 1] + truth[i] + truth[i + 1],
              near_drawn = drawn[i - 1] + drawn[i] + drawn[i + 1];
    EXPECT_TRUE(truth[i] == 0 || near_drawn > 0) << "invisible: " << i;
    EXPECT_TRUE(drawn[i] == 0 || near_truth > 0) << "drawn of nothing: " << i;
  }
}

TEST_P(Columns, BinsSaySoWhenTheRangeIsEmpty) {
  BinRequest request;
  request.track = TrackId{1};
  request.bins = 10;
  const auto bins = trace_->eventBins(request);
  ASSERT_FALSE(bins.has_value());
  EXPECT_EQ(bins.error().code, ErrorCode::invalidInput);
  request.to_ns = 10;
  request.track = TrackId{99};
  EXPECT_TRUE(trace_->eventBins(request).value().empty());
}

TEST_P(Columns, LodInSqlIsTheBins) {
  BinRequest request;
  request.track = TrackId{2};
  request.from_ns = 1000;
  request.to_ns = 500'000;
  request.bins = 300;
  const auto bins = trace_->eventBins(request).value();
  const SqlRows rows = mustQuery(*trace_,
                                 "SELECT bin, count, total_ns, longest_ns, longest_name FROM "
                                 "event_lod(2, 1000, 500000, 300)");
  ASSERT_EQ(rows.rows.size(), bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_EQ(valueAt(rows, i, 0), bins[i].bin);
    EXPECT_EQ(valueAt(rows, i, 1), bins[i].events);
    EXPECT_EQ(valueAt(rows, i, 2), bins[i].total_ns);
    EXPECT_EQ(valueAt(rows, i, 3), bins[i].longest_ns);
    EXPECT_EQ(std::get<std::string>(rows.rows[i][4]), trace_->string(bins[i].longest_name));
  }
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM event_lod(77)"), 0);
  EXPECT_FALSE(trace_->query("SELECT * FROM event_lod").has_value());
  EXPECT_FALSE(trace_->query("SELECT * FROM event_lod(1, 0, 10, 0)").has_value());
}

TEST_P(Columns, StatisticsAreThoseOfTheRows) {
  for (const std::string window : {"", "NULL, 300000, 700000", "2, 123456, 654321"}) {
    std::string where = "1";
    if (window.starts_with("NULL")) where = "start_ns >= 300000 AND start_ns < 700000";
    if (window.starts_with("2")) where = "track = 2 AND start_ns >= 123456 AND start_ns < 654321";
    const SqlRows fast =
        mustQuery(*trace_, "SELECT name, kind, count, total_ns, min_ns, max_ns FROM event_stats(" + window +
                               ") ORDER BY 1, 2");
    const SqlRows rows = mustQuery(
        *trace_, "SELECT name, kind, count(*), sum(dur_ns), min(dur_ns), max(dur_ns) FROM event WHERE " +
                     where + " GROUP BY name, kind ORDER BY 1, 2");
    EXPECT_EQ(fast.rows, rows.rows) << window;
  }
}

// How many columns of how many chunks SQL reads from a file.
class Touched : public ::testing::Test {
 protected:
  void SetUp() override {
    content_ = makeRandomTrace({.seed = 41, .tracks = 3, .events_per_track = 4096});
    for (std::vector<Event>& events : content_.events) {
      for (std::size_t i = 0; i < events.size(); ++i) {
        events[i].kind = EventKind::scope;
        events[i].name = StringId{static_cast<std::uint32_t>(1 + i % 9)};
      }
    }
    const std::string path = folder_ / "a.pitwall";
    writeTrace(path, content_, {.chunk_events = 512});
    auto connection = store::Connection::open(path, store::OpenMode::immutable);
    ASSERT_TRUE(connection.has_value());
    auto data = TraceData::load(std::move(*connection));
    ASSERT_TRUE(data.has_value()) << data.error().message;
    data_ = std::move(*data);
  }

  // Columns read for the statement.
  std::int64_t of(const std::string& sql) {
    const std::int64_t before = data_->events().columnsRead();
    const auto rows = store::runQuery(*data_, sql, {});
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return data_->events().columnsRead() - before;
  }
  std::int64_t chunksOf(std::uint32_t track) const {
    return static_cast<std::int64_t>(data_->events().ofTrack(track).size());
  }

  TempFolder folder_;
  RandomTrace content_;
  std::unique_ptr<TraceData> data_;
};

TEST_F(Touched, AFilterOnTimeAndTrackReadsItsChunksAndColumnsAlone) {
  ASSERT_EQ(chunksOf(1), 8);
  EXPECT_EQ(of("SELECT count(*) FROM event WHERE track = 99"), 0);
  EXPECT_EQ(of("SELECT count(*) FROM event WHERE start_ns > 5000000"), 0);
  EXPECT_EQ(of("SELECT count(*) FROM event WHERE track = 1"), 0) << "counting needs no column";
  EXPECT_EQ(of("SELECT sum(dur_ns) FROM event WHERE track = 1"), 8) << "one column of eight chunks";
  // Events of a track are spread evenly over a million ns: a window of one in a thousand is in one chunk or
  // two.
  const std::int64_t window =
      of("SELECT sum(value) FROM event WHERE track = 2 AND start_ns BETWEEN 500000 AND 501000");
  EXPECT_GE(window, 2);
  EXPECT_LE(window, 4) << "start and value of two chunks";
  EXPECT_EQ(of("SELECT sum(value) FROM event WHERE track = 2 AND start_ns BETWEEN 500000 AND 501000"), 0)
      << "kept for the next query";
}

TEST_F(Touched, SumsAreReadInsteadOfEvents) {
  EXPECT_EQ(of("SELECT * FROM event_stats"), 0);
  EXPECT_EQ(of("SELECT * FROM event_stats(1)"), 0);
  EXPECT_LE(of("SELECT * FROM event_stats(1, 250000, 750000)"), 3 * 4)
      << "the few chunks at the window's ends";
  EXPECT_EQ(of("SELECT * FROM event_busy(1)"), 2 * chunksOf(1)) << "start and duration";
  EXPECT_EQ(of("SELECT * FROM event_busy(1, 400000, 400500)"), 2);
}

}  // namespace
}  // namespace pitwall::test::columns_test
