// The functions that summarize events, compared with SQLite's own sums and with loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tests/db/sqlite/sql_fixture.h"

namespace pitwall::test::sql_functions_test {
namespace {

using ::testing::HasSubstr;

TEST_F(Sql, EventStatsAnswersAsGroupBy) {
  mustQuery(*trace_, "CREATE TEMP TABLE flat AS SELECT * FROM event");
  struct Case {
    const char* call;
    const char* where;
  };
  for (const auto& [call, where] :
       {Case{"event_stats", "1"}, Case{"event_stats(2)", "track = 2"},
        Case{"event_stats(NULL, 300000)", "start_ns >= 300000"},
        Case{"event_stats(3, 300000, 310000)", "track = 3 AND start_ns >= 300000 AND start_ns < 310000"},
        Case{"event_stats(NULL, NULL, 5000)", "start_ns < 5000"}, Case{"event_stats(77)", "0"},
        Case{"event_stats(1, 10, 5)", "0"}}) {
    EXPECT_EQ(
        dump(std::string("SELECT name, kind, count, total_ns, min_ns, max_ns FROM ") + call +
             " ORDER BY 1, 2"),
        dump(std::string(
                 "SELECT name, kind, count(*), sum(dur_ns), min(dur_ns), max(dur_ns) FROM flat WHERE ") +
             where + " GROUP BY 1, 2 ORDER BY 1, 2"))
        << call;
  }
}

// Covered time, a nanosecond at a time.
class Covered {
 public:
  explicit Covered(const std::vector<Event>& events, std::optional<EventKind> kind = std::nullopt)
      : busy_(1'010'000) {
    for (const Event& e : events) {
      if (kind.has_value() && e.kind != *kind) continue;
      for (TimeNs t = e.start_ns; t < e.start_ns + e.dur_ns; ++t) busy_[static_cast<std::size_t>(t)] = true;
    }
  }
  std::int64_t within(TimeNs from, TimeNs to, const Covered* also = nullptr) const {
    std::int64_t sum = 0;
    for (TimeNs t = std::max<TimeNs>(from, 0); t < std::min<TimeNs>(to, 1'010'000); ++t) {
      const auto at = static_cast<std::size_t>(t);
      sum += busy_[at] && (also == nullptr || also->busy_[at]) ? 1 : 0;
    }
    return sum;
  }

 private:
  std::vector<bool> busy_;
};

TEST_F(Sql, BusyAndOverlapCountEachNanosecondOnce) {
  const Covered one(content_.events[0]), two(content_.events[1]), waits(content_.events[0], EventKind::wait);
  const TimeNs all = 1'010'000;
  EXPECT_EQ(mustCount(*trace_, "SELECT busy_ns FROM event_busy(1)"), one.within(0, all));
  EXPECT_EQ(mustCount(*trace_, "SELECT busy_ns FROM event_busy(1, 200000, 300000)"),
            one.within(200000, 300000));
  EXPECT_EQ(mustCount(*trace_, "SELECT busy_ns FROM event_busy(1, NULL, 12345)"), one.within(0, 12345));
  EXPECT_EQ(mustCount(*trace_, "SELECT busy_ns FROM event_busy(1, NULL, NULL, 'wait')"),
            waits.within(0, all));
  EXPECT_LT(waits.within(0, all), one.within(0, all));
  EXPECT_EQ(mustCount(*trace_, "SELECT busy_ns FROM event_busy(99)"), 0);
  EXPECT_EQ(mustCount(*trace_, "SELECT overlap_ns FROM event_overlap(1, 2)"), one.within(0, all, &two));
  EXPECT_EQ(mustCount(*trace_, "SELECT overlap_ns FROM event_overlap(2, 1, 70000, 90000)"),
            one.within(70000, 90000, &two));
  EXPECT_EQ(mustCount(*trace_, "SELECT overlap_ns FROM event_overlap(1, 1)"), one.within(0, all));
  EXPECT_EQ(mustCount(*trace_, "SELECT overlap_ns FROM event_overlap(1, 99)"), 0);
}

TEST_F(Sql, FunctionsTakeArgumentsFromOtherTables) {
  const SqlRows each = mustQuery(
      *trace_,
      "SELECT t.id, b.busy_ns FROM track t, event_busy(t.id) b WHERE t.kind <> 'counter' ORDER BY 1");
  const SqlRows all = mustQuery(*trace_, "SELECT track, busy_ns FROM event_busy ORDER BY 1");
  EXPECT_EQ(each.rows, all.rows);
  EXPECT_EQ(all.rows.size(), static_cast<std::size_t>(kEventTracks));
  EXPECT_EQ(
      mustCount(*trace_,
                "SELECT count(*) FROM track a JOIN track b ON a.id < b.id JOIN event_overlap(a.id, b.id) o"),
      21);
  EXPECT_EQ(mustCount(*trace_, "SELECT sum(s.count) FROM track t JOIN event_stats(t.id) s"), 4 * 700);
}

TEST_F(Sql, SaysWhatIsWrongWithArguments) {
  for (const auto& [sql, words] :
       {std::pair{"SELECT * FROM event_busy('x')", "event_busy: track must be a number"},
        std::pair{"SELECT * FROM event_busy(1, 0, 5, 'sleep')", "kind 'sleep' is unknown"},
        std::pair{"SELECT * FROM event_overlap(1)", "needs two tracks"},
        std::pair{"SELECT * FROM event_stats(1, 'soon')", "t0 must be a number"}}) {
    const auto rows = trace_->query(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::invalidInput);
    EXPECT_THAT(rows.error().message, HasSubstr(words));
    EXPECT_THAT(rows.error().message, HasSubstr(sql));
  }
}

}  // namespace
}  // namespace pitwall::test::sql_functions_test
