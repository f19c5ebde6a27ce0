// The virtual tables, compared with SQLite's own tables.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/db/sqlite/sql_fixture.h"

namespace pitwall::test::sql_tables_test {
namespace {

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

// Conditions of which each may be passed to the virtual table.
const std::vector<std::string> kTerms = {"track = 2",
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

// A plain table with the same rows gives the same result, whatever constraints are pushed down.
TEST_F(Sql, ConstraintsAnswerAsOnAPlainTable) {
  mustQuery(*trace_, "CREATE TEMP TABLE flat AS SELECT * FROM event");
  const std::string columns = "id, track, start_ns, end_ns, name, kind, phase, operator, correlation";
  std::mt19937_64 random(4);
  int answered = 0;
  for (int round = 0; round < 600; ++round) {
    std::string where;
    for (std::size_t n = 0, terms_here = round < 60 ? 1 : 1 + random() % 3; n < terms_here; ++n) {
      const std::size_t at = round < static_cast<int>(kTerms.size()) ? static_cast<std::size_t>(round)
                                                                     : random() % kTerms.size();
      where += (n == 0 ? "(" : " AND (") + kTerms[at] + ")";
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
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM counter"), 300);
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

}  // namespace
}  // namespace pitwall::test::sql_tables_test
