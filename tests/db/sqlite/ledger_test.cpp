// The ledger of predictions.
#include "db/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "db/temporary.h"

namespace pitwall::ledger_test {
namespace {

LedgerRow row(const std::string& rule, double low, double high, double ratio) {
  LedgerRow made;
  made.unix_s = 1'700'000'000;
  made.machine = "cpu";
  made.program = "train";
  made.rule = rule;
  made.method = "replay";
  made.settings = "A=1 B=2";
  made.predicted_low = low;
  made.predicted_high = high;
  made.ratio = ratio;
  made.low = ratio * 0.99;
  made.high = ratio * 1.01;
  made.pairs = 7;
  made.conclusion = "kept";
  return made;
}

TEST(Ledger, KeepsWhatWasAdded) {
  const auto folder = TemporaryFolder::create("a test");
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("new/ledger.sqlite");
  EXPECT_TRUE(readLedger(path).value().empty());
  const LedgerRow first = row("a/one", 1, 1.5, 1.2), second = row("b/two", 1.1, 1.3, 0.9);
  ASSERT_TRUE(addToLedger(path, {&first, 1}).has_value());
  ASSERT_TRUE(addToLedger(path, {&second, 1}).has_value());
  const auto rows = readLedger(path);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].rule, "a/one");
  EXPECT_EQ((*rows)[0].settings, "A=1 B=2");
  EXPECT_EQ((*rows)[0].pairs, 7);
  EXPECT_DOUBLE_EQ((*rows)[1].ratio, 0.9);
  EXPECT_EQ((*rows)[1].unix_s, 1'700'000'000);
}

TEST(Ledger, AnotherProgramsFileIsNotTouched) {
  const auto folder = TemporaryFolder::create("a test");
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("ledger.sqlite");
  std::ofstream(path)
      << "some text that is longer than the header of a database, which has a hundred bytes at its "
         "beginning";
  const LedgerRow one = row("a/one", 1, 1.5, 1.2);
  EXPECT_FALSE(addToLedger(path, {&one, 1}).has_value());
  EXPECT_FALSE(readLedger(path).has_value());
}

TEST(Ledger, CountsHowOftenPredictionsHeld) {
  const std::vector<LedgerRow> rows = {row("a", 1, 1.44, 1.32), row("a", 1, 1.44, 1.5),
                                       row("a", 1, 1.44, 1.08), row("b", 2, 2, 1)};
  const auto summaries = summarizeLedger(rows);
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_EQ(summaries[0].rule, "a");
  EXPECT_EQ(summaries[0].predictions, 3);
  EXPECT_EQ(summaries[0].held, 2);
  EXPECT_NEAR(summaries[0].median_error, 0.1, 1e-9);  // 10 %, 25 % and 10 % from 1.2
  EXPECT_NEAR(summaries[0].median_measured, 1.32, 1e-9);
  EXPECT_EQ(summaries[1].held, 0);
  EXPECT_NEAR(summaries[1].median_error, 0.5, 1e-9);
  EXPECT_EQ(summaries[2].rule, "");
  EXPECT_EQ(summaries[2].predictions, 4);
}

}  // namespace
}  // namespace pitwall::ledger_test
