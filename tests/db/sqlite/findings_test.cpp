#include "db/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::findings_test {
namespace {

FindingRow makeFinding(const std::string& id) {
  return {.id = id,
          .title = "The batch can grow",
          .severity = "high",
          .verdict = "Operators take 20 us each.",
          .gain_low = 0.1,
          .gain_high = 0.25,
          .gain_method = "overhead per item",
          .guard = "memory may not suffice",
          .proposals = {{"PITWALL_TUNE_batch_size", "16", "64", "fewer, larger operators"},
                        {"OMP_NUM_THREADS", "1", "2", "a larger batch feeds more threads"}},
          .evidence = {R"({"operator":"Convolution","mean_ns":20000})",
                       R"({"operator":"Pooling","mean_ns":3000})"}};
}

TEST(Findings, AreThereAfterwards) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  const FindingRow rows[] = {makeFinding("batch/can-grow"), makeFinding("threads/too-few")};
  const Status saved = saveFindings(path, rows);
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  const auto trace = mustOpen(path);
  EXPECT_TRUE(trace->isComplete());
  const SqlRows found =
      mustQuery(*trace, "SELECT rule, severity, gain_low, gain_high, status FROM finding ORDER BY id");
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0], (std::vector<SqlValue>{"batch/can-grow", "high", 0.1, 0.25, "not tested"}));
  EXPECT_EQ(found.rows[1][0], SqlValue("threads/too-few"));
  const SqlRows proposals =
      mustQuery(*trace, "SELECT name, proposed FROM proposal WHERE finding_id = 2 ORDER BY id");
  ASSERT_EQ(proposals.rows.size(), 2u);
  EXPECT_EQ(proposals.rows[1], (std::vector<SqlValue>{"OMP_NUM_THREADS", "2"}));
  const SqlRows evidence = mustQuery(
      *trace, "SELECT json_extract(row_json, '$.mean_ns') FROM evidence WHERE finding_id = 1 ORDER BY id");
  ASSERT_EQ(evidence.rows.size(), 2u);
  EXPECT_EQ(evidence.rows[0][0], SqlValue(std::int64_t{20000}));
}

TEST(Findings, ReplaceEarlierOnes) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  const FindingRow rows[] = {makeFinding("a"), makeFinding("b")};
  ASSERT_TRUE(saveFindings(path, rows).has_value());
  ASSERT_TRUE(saveFindings(path, std::span(rows).last(1)).has_value());
  const auto trace = mustOpen(path);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM finding"), 1);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM proposal"), 2);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM evidence"), 2);
  ASSERT_TRUE(saveFindings(path, {}).has_value());
  EXPECT_EQ(mustCount(*mustOpen(path), "SELECT count(*) FROM finding"), 0);
}

// A reader with the file open is not affected, and releases it afterwards.
TEST(Findings, AreSavedOnceTheTraceIsNotInUse) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  const FindingRow rows[] = {makeFinding("a")};
  const auto trace = mustOpen(path);
  {
    const auto hold = trace->hold();
    ASSERT_NE(hold, nullptr);
    EXPECT_EQ(trace->hold(), nullptr) << "twice";
    EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM finding"), 0);
    for (std::size_t track = 1; track <= trace->tracks().size(); ++track)
      EXPECT_TRUE(trace->events(TrackId{static_cast<std::uint32_t>(track)}).has_value());
    EXPECT_FALSE(saveFindings(path, rows).has_value());
  }
  EXPECT_TRUE(saveFindings(path, rows).has_value());
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM finding"), 1);
  mustQuery(*trace, "CREATE TEMP TABLE t(a)");
  const std::vector<SqlValue> row[] = {{std::int64_t{1}}};
  EXPECT_TRUE(trace->insertTemp("t", row).has_value());
}

TEST(Findings, AreAllOrNone) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  FindingRow rows[] = {makeFinding("a"), makeFinding("b")};
  ASSERT_TRUE(saveFindings(path, rows).has_value());
  rows[1].gain_high = std::numeric_limits<double>::quiet_NaN();
  ASSERT_FALSE(saveFindings(path, rows).has_value());
  EXPECT_EQ(mustCount(*mustOpen(path), "SELECT count(*) FROM finding"), 2);
}

TEST(Findings, KeepAnIncompleteTraceIncomplete) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  { feed(*mustCreate(path), makeRandomTrace({})); }
  const FindingRow rows[] = {makeFinding("a")};
  ASSERT_TRUE(saveFindings(path, rows).has_value());
  const auto trace = mustOpen(path);
  EXPECT_FALSE(trace->isComplete());
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM finding"), 1);
  EXPECT_EQ(trace->events(TrackId{1}).value().size(), 500u);
}

TEST(Findings, NeedATrace) {
  const TempFolder folder;
  EXPECT_EQ(saveFindings(folder / "none.pitwall", {}).error().code, ErrorCode::notFound);
  writeBytes(folder / "text", "text");
  EXPECT_EQ(saveFindings(folder / "text", {}).error().code, ErrorCode::corruptTrace);
  EXPECT_EQ(readBytes(folder / "text"), "text");
}

}  // namespace
}  // namespace pitwall::test::findings_test
