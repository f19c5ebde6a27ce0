// The virtual tables and functions compared with SQLite's own tables and with loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test {
namespace {

using ::testing::HasSubstr;

class Sql : public ::testing::Test {
 protected:
  static constexpr int kEventTracks = 4;

  void SetUp() override {
    content_ = makeRandomTrace({.seed = 21, .events_per_track = 700});
    const std::string path = folder_ / "a.pitwall";
    writeTrace(path, content_, {.chunk_events = 64});
    trace_ = mustOpen(path);
    ASSERT_NE(trace_, nullptr);
  }

  std::string dump(const std::string& sql) {
    std::string text;
    for (const auto& row : mustQuery(*trace_, sql).rows) {
      for (const SqlValue& value : row) text += show(value) + ' ';
      text += '\n';
    }
    return text;
  }

  static std::string show(const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return '\'' + *text + '\'';
    return "NULL";
  }

  std::string nameOf(StringId id) const { return id ? content_.strings[id.value - 1] : ""; }

  TempFolder folder_;
  RandomTrace content_;
  std::unique_ptr<Trace> trace_;
};

TEST_F(Sql, EventShowsEveryField) {
  std::multiset<std::string> expected, found;
  for (std::size_t track = 0; track < kEventTracks; ++track) {
    for (const Event& e : content_.events[track]) {
      const OperatorFacts facts = e.op ? content_.facts[e.op.value - 1] : OperatorFacts{};
      std::string row;
      const auto add = [&row](const SqlValue& value) { row += show(value) + ' '; };
      add(static_cast<std::int64_t>(track + 1));
      for (const std::int64_t time : {e.start_ns, e.dur_ns, e.start_ns + e.dur_ns, e.pushed_ns, e.ready_ns})
        add(time);
      add(nameOf(e.name));
      add(toString(e.kind));
      add(toString(facts.phase));
      add(facts.layer);
      e.op ? add(std::int64_t{e.op.value}) : add(std::monostate{});
      add(static_cast<std::int64_t>(e.correlation));
      add(std::int64_t{e.depth});
      add(e.value);
      e.kernel ? add(std::int64_t{e.kernel.value}) : add(std::monostate{});
      add(nameOf(e.args));
      expected.insert(row);
    }
  }
  const SqlRows rows = mustQuery(*trace_, "SELECT * FROM event");
  EXPECT_EQ(rows.columns,
            (std::vector<std::string>{"id", "track", "start_ns", "dur_ns", "end_ns", "pushed_ns", "ready_ns",
                                      "name", "kind", "phase", "layer", "operator", "correlation", "depth",
                                      "value", "kernel", "args"}));
  std::set<std::int64_t> ids;
  for (const auto& row : rows.rows) {
    std::string text;
    for (std::size_t i = 1; i < row.size(); ++i) text += show(row[i]) + ' ';
    found.insert(text);
    ids.insert(std::get<std::int64_t>(row[0]));
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(ids.size(), rows.rows.size());
  EXPECT_EQ(*ids.begin(), 1);
  EXPECT_EQ(*ids.rbegin(), static_cast<std::int64_t>(rows.rows.size())) << "ids are dense";
}

// A plain table with the same rows gives the same result, whatever constraints are pushed down.
TEST_F(Sql, ConstraintsAnswerAsOnAPlainTable) {
  mustQuery(*trace_, "CREATE TEMP TABLE flat AS SELECT * FROM event");
  const std::vector<std::string> terms = {"track = 2",
                                          "track IN (1, 3)",
                                          "track = '2'",
                                          "track = 2.5",
                                          "track > 2",
                                          "track = 99",
                                          "track = NULL",
                                          "id = 44",
                                          "id BETWEEN 60 AND 200",
                                          "id > 2600",
                                          "id = -1",
                                          "start_ns >= 500000",
                                          "start_ns < 500000.5",
                                          "start_ns > '250000'",
                                          "start_ns BETWEEN 100000 AND 110000",
                                          "start_ns = -1e30",
                                          "start_ns < 1e30",
                                          "start_ns > NULL",
                                          "end_ns > 990000",
                                          "end_ns <= 20000",
                                          "dur_ns >= 2990",
                                          "dur_ns = 7",
                                          "dur_ns < 10",
                                          "name = 'name 3'",
                                          "name IN ('name 1', 'name 2')",
                                          "name = 'nope'",
                                          "name = ''",
                                          "name = 'NAME 3' COLLATE NOCASE",
                                          "name = 3",
                                          "name LIKE 'name 1%'",
                                          "kind = 'operator'",
                                          "kind = 'data_wait'",
                                          "kind = 'nonsense'",
                                          "kind <> 'scope'",
                                          "operator = 5",
                                          "kernel = 3",
                                          "kernel = 'name'",
                                          "args = 'name 4'",
                                          "args = '' AND kernel IS NULL",
                                          "operator = 0",
                                          "operator IS NULL",
                                          "operator = '7'",
                                          "correlation = 17",
                                          "correlation IN (3, 4, 5)",
                                          "correlation > 290",
                                          "correlation = 0",
                                          "correlation = 17.0",
                                          "correlation = 99999",
                                          "phase = 'forward'",
                                          "layer <> ''",
                                          "depth = 0",
                                          "value < 0",
                                          "start_ns >= 500000 OR track = 1",
                                          "9223372036854775807 > start_ns",
                                          "id IN (SELECT id FROM flat WHERE depth = 1)"};
  const std::string columns = "id, track, start_ns, end_ns, name, kind, phase, operator, correlation";
  std::mt19937_64 random(4);
  int answered = 0;
  for (int round = 0; round < 600; ++round) {
    std::string where;
    for (std::size_t n = 0, terms_here = round < 60 ? 1 : 1 + random() % 3; n < terms_here; ++n) {
      const std::size_t at =
          round < static_cast<int>(terms.size()) ? static_cast<std::size_t>(round) : random() % terms.size();
      where += (n == 0 ? "(" : " AND (") + terms[at] + ")";
    }
    const std::string rest = " WHERE " + where + " ORDER BY id";
    const std::string expected = dump("SELECT " + columns + " FROM flat" + rest);
    ASSERT_EQ(dump("SELECT " + columns + " FROM event" + rest), expected) << where;
    answered += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(answered, 100) << "most terms must leave rows, else this tests little";
}

TEST_F(Sql, JoinsThroughCorrelations) {
  mustQuery(
      *trace_,
      "CREATE TEMP TABLE flat AS SELECT * FROM event; CREATE TEMP TABLE edges AS SELECT * FROM dependency");
  const std::string select = "SELECT count(*), sum(e.id % 1000), sum(f.dur_ns) FROM ";
  const std::string on = " d JOIN %e e ON e.correlation = d.source JOIN %e f ON f.correlation = d.target";
  const auto with = [&](const std::string& edges, const std::string& events) {
    std::string sql = select + edges + on;
    for (std::size_t at = 0; (at = sql.find("%e", at)) != std::string::npos;) sql.replace(at, 2, events);
    return sql;
  };
  EXPECT_EQ(dump(with("dependency", "event")), dump(with("edges", "flat")));
}

TEST_F(Sql, DependenciesAndCountersAnswerAsPlainTables) {
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM dependency"),
            static_cast<std::int64_t>(content_.dependencies.size()));
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM counter"), 200);
  mustQuery(*trace_,
            "CREATE TEMP TABLE edges AS SELECT * FROM dependency; CREATE TEMP TABLE samples AS SELECT * FROM "
            "counter");
  for (const char* where : {"source = 5", "target = 7", "source = 5 AND target > 100",
                            "target BETWEEN 20 AND 40", "source = NULL", "kind = 'launch'", "source = 1e30",
                            "source IN (1, 2, 3)", "source < 10 AND kind = 'batch'"}) {
    const std::string rest = std::string(" WHERE ") + where + " ORDER BY 1, 2, 3";
    EXPECT_EQ(dump("SELECT source, target, kind FROM dependency" + rest),
              dump("SELECT source, target, kind FROM edges" + rest))
        << where;
  }
  for (const char* where :
       {"track = 5", "track = 6 AND time_ns > 500000", "time_ns BETWEEN 10000 AND 200000", "value > 100",
        "unit = 'bytes'", "name = 'queue' AND time_ns < 100000.7", "track = 1", "time_ns = NULL"}) {
    const std::string rest = std::string(" WHERE ") + where + " ORDER BY 1, 2, 3";
    EXPECT_EQ(dump("SELECT * FROM counter" + rest), dump("SELECT * FROM samples" + rest)) << where;
  }
  double sum = 0, found = 0;
  for (const CounterSample& sample : content_.counters[5]) sum += sample.value;
  for (const auto& row : mustQuery(*trace_, "SELECT value FROM counter WHERE name = 'queue'").rows)
    found += std::get<double>(row[0]);
  EXPECT_NEAR(found, sum, 1e-6);
}

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
      15);
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

TEST_F(Sql, QueryOnlyReads) {
  for (const char* sql : {"DELETE FROM string",
                          "UPDATE meta SET value = 'x'",
                          "INSERT INTO string(text) VALUES ('x')",
                          "DROP TABLE string",
                          "CREATE TABLE mine(a)",
                          "ALTER TABLE string ADD COLUMN x",
                          "VACUUM",
                          "VACUUM INTO 'copy.db'",
                          "ATTACH 'other.db' AS other",
                          "PRAGMA user_version = 9",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA writable_schema = ON",
                          "BEGIN",
                          "SAVEPOINT s",
                          "CREATE VIRTUAL TABLE temp.v USING fts5(a)",
                          "CREATE TRIGGER temp.t AFTER INSERT ON string BEGIN SELECT 1; END",
                          "ANALYZE",
                          "REINDEX",
                          "SELECT load_extension('x')",
                          "DELETE FROM event",
                          "INSERT INTO event(id) VALUES (1)"}) {
    const auto rows = trace_->query(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::invalidInput) << sql << ": " << rows.error().message;
  }
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM string"),
            static_cast<std::int64_t>(content_.strings.size()));
}

TEST_F(Sql, TempTablesAreAllowed) {
  mustQuery(*trace_,
            "CREATE TEMP TABLE iteration(number INTEGER, start_ns INTEGER, note TEXT); CREATE INDEX temp.i "
            "ON iteration(number)");
  const std::vector<SqlValue> rows[] = {{std::int64_t{1}, 2.5, "a"},
                                        {std::int64_t{2}, std::monostate{}, "it's"}};
  const Status inserted = trace_->insertTemp("iteration", rows);
  ASSERT_TRUE(inserted.has_value()) << inserted.error().message;
  mustQuery(
      *trace_,
      "INSERT INTO iteration VALUES (3, 4, 'c'); UPDATE iteration SET note = upper(note) WHERE number = 1");
  EXPECT_EQ(dump("SELECT * FROM iteration ORDER BY number"), "1 2.500000 'A' \n2 NULL 'it's' \n3 4 'c' \n");
  mustQuery(*trace_,
            "CREATE TEMP VIEW late AS SELECT * FROM iteration WHERE number > 1; DELETE FROM iteration WHERE "
            "number = 3");
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM late"), 1);
  mustQuery(*trace_, "DROP VIEW late; DROP TABLE iteration");
  EXPECT_FALSE(trace_->insertTemp("iteration", rows).has_value());
}

TEST_F(Sql, InsertTempIsAllOrNothing) {
  mustQuery(*trace_, "CREATE TEMP TABLE t(a INTEGER PRIMARY KEY, b)");
  const std::vector<SqlValue> twice[] = {{std::int64_t{1}, "x"}, {std::int64_t{1}, "y"}};
  EXPECT_EQ(trace_->insertTemp("t", twice).error().code, ErrorCode::invalidInput);
  const std::vector<SqlValue> uneven[] = {{std::int64_t{1}, "x"}, {std::int64_t{2}}};
  EXPECT_EQ(trace_->insertTemp("t", uneven).error().code, ErrorCode::invalidInput);
  const std::vector<SqlValue> wide[] = {{std::int64_t{1}, "x", "y"}};
  EXPECT_EQ(trace_->insertTemp("t", wide).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM t"), 0);
  EXPECT_EQ(trace_->insertTemp("string", twice).error().code, ErrorCode::invalidInput) << "not a temp table";
}

TEST_F(Sql, TakesNamedParameters) {
  const SqlParameter parameters[] = {{":track", std::int64_t{2}}, {":kind", "wait"}, {":unused", 1.5}};
  const SqlRows rows =
      mustQuery(*trace_, "SELECT count(*) FROM event WHERE track = :track AND kind = :kind", parameters);
  EXPECT_EQ(std::get<std::int64_t>(rows.rows[0][0]),
            std::count_if(content_.events[1].begin(), content_.events[1].end(),
                          [](const Event& e) { return e.kind == EventKind::wait; }));
  for (const char* sql : {"SELECT :threshold", "SELECT ?"}) {
    const auto missing = trace_->query(sql, parameters);
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, ErrorCode::invalidInput);
  }
}

// The last statement stays prepared; nothing of its parameters or of the tables' earlier state may remain.
TEST_F(Sql, TheSameStatementAnswersAnewEachTime) {
  const auto value = [&](const std::vector<SqlParameter>& parameters) {
    const auto rows = trace_->query("SELECT :value", parameters);
    return rows.has_value() ? show(rows->rows.at(0).at(0)) : rows.error().message;
  };
  EXPECT_EQ(value({{":value", std::int64_t{7}}}), "7");
  EXPECT_EQ(value({{":value", std::string("text")}}), "'text'");
  EXPECT_EQ(value({{":value", {}}}), "NULL");
  EXPECT_THAT(value({}), HasSubstr("no value was given for parameter :value"));
  EXPECT_EQ(value({{":value", 0.5}}), "0.500000");

  const std::string count = "SELECT count(*) FROM temp.numbers";
  for (int rows = 1; rows <= 2; ++rows) {
    mustQuery(*trace_, "DROP TABLE IF EXISTS temp.numbers");
    mustQuery(*trace_, rows == 1 ? "CREATE TEMP TABLE numbers (n)" : "CREATE TEMP TABLE numbers (n, m)");
    ASSERT_TRUE(trace_
                    ->insertTemp("numbers", std::vector<std::vector<SqlValue>>(
                                                static_cast<std::size_t>(rows),
                                                std::vector<SqlValue>(static_cast<std::size_t>(rows))))
                    .has_value());
    EXPECT_EQ(dump(count), std::to_string(rows) + " \n");
    EXPECT_EQ(dump(count), std::to_string(rows) + " \n");
  }
  mustQuery(*trace_, count);
  EXPECT_TRUE(trace_->query("DROP TABLE temp.numbers").has_value()) << "the kept statement holds no lock";
  EXPECT_FALSE(trace_->query(count).has_value());
}

TEST_F(Sql, ReportsSqlErrorsWithTheStatement) {
  for (const char* sql : {"SELEC 1", "SELECT nothing FROM event", "SELECT * FROM nowhere", "SELECT 1; SELECT",
                          "", " -- only a comment"}) {
    const auto rows = trace_->query(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::invalidInput);
  }
  EXPECT_THAT(trace_->query("SELECT 1; SELECT nothing FROM event").error().message,
              HasSubstr("SELECT nothing FROM event"));
}

TEST_F(Sql, ShowsBlobsAsText) {
  EXPECT_EQ(dump("SELECT x'00ff10', NULL, 'a', 1.5, 3"), "'X'00FF10'' NULL 'a' 1.500000 3 \n");
}

}  // namespace
}  // namespace pitwall::test
