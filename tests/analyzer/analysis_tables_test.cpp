// The tables of the analyses are as declared: in name, columns and types, with a unit and a meaning each.
#include "analyzer/analysis/analysis_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/analysis/temp_table.h"
#include "tests/analyzer/analyzed.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis_tables_test {
namespace {

using analysis::analysisTables;
using analysis::Column;
using analysis::ColumnType;
using analysis::TableDeclaration;

// Iterations with operators, waits for batches and device work, sampled while they ran.
constexpr char kTrace[] = R"(
meta process.usable_cpus 4
meta process.exit_code 0
meta trace.end_ns 200000000
tunable prefetch_threads 1 1 8 default
repeat 12 10ms
iteration 0 64
span data_wait 0 2ms
op conv1 Convolution forward 2ms 4ms flop=1000000 read=4096 written=4096
op conv1 Convolution backward 6ms 3ms
work kernel sgemm 3ms 1ms launch=2ms
counter cpu CPUs 0 0.5 on=pool
end
)";

std::unique_ptr<test::Analyzed> analyzed(const std::string& path) {
  auto result = std::make_unique<test::Analyzed>();
  result->path = path;
  const Status made = test::makeTraceFile(kTrace, path);
  EXPECT_TRUE(made.has_value()) << (made.has_value() ? "" : made.error().message);
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value());
  if (!trace.has_value()) return nullptr;
  result->trace = std::move(trace).value();
  auto report = analyzeTrace(*result->trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  EXPECT_TRUE(report.has_value()) << (report.has_value() ? "" : report.error().message);
  return report.has_value() ? std::move(result) : nullptr;
}

std::string textOf(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

class AnalysisTables : public testing::Test {
 protected:
  test::TempFolder folder_;
  std::unique_ptr<test::Analyzed> analyzed_ = analyzed(folder_ / "tables.pitwall");
};

TEST_F(AnalysisTables, AreAllDeclaredAndAllPresent) {
  ASSERT_NE(analyzed_, nullptr);
  std::set<std::string> declared, present;
  for (const TableDeclaration* table : analysisTables())
    EXPECT_TRUE(declared.insert(table->name).second) << table->name << " is listed twice";
  for (const auto& row :
       analyzed_->rows("SELECT name FROM temp.sqlite_schema WHERE name LIKE 'analysis%'").rows)
    present.insert(textOf(row[0]));
  EXPECT_EQ(present, declared);
}

TEST_F(AnalysisTables, HaveTheDeclaredColumns) {
  ASSERT_NE(analyzed_, nullptr);
  for (const TableDeclaration* table : analysisTables()) {
    std::vector<std::string> declared, present;
    for (const Column& column : table->columns) {
      const std::string type = column.type == ColumnType::any ? "" : toString(column.type);
      declared.push_back(fmt::format("{} {}", column.name, type));
    }
    for (const auto& row : analyzed_->rows(fmt::format("PRAGMA temp.table_info({})", table->name)).rows)
      present.push_back(fmt::format("{} {}", textOf(row.at(1)), textOf(row.at(2))));
    EXPECT_EQ(present, declared) << table->name;
  }
}

TEST(AnalysisTableDeclarations, SayWhatEachColumnIs) {
  const std::set<std::string> units{"ns",     "bytes",      "bytes/s", "1/s",        "FLOP",  "FLOP/s",
                                    "CPUs",   "0..1",       "ratio",   "0 or 1",     "count", "id",
                                    "number", "as in unit", "text",    "as the fact"};
  for (const TableDeclaration* table : analysisTables()) {
    const std::string rows = table->rows;
    EXPECT_TRUE(rows.size() > 10 && rows.back() == '.') << table->name << ": " << rows;
    std::set<std::string> names;
    for (const Column& column : table->columns) {
      const std::string place = fmt::format("{}.{}", table->name, column.name);
      EXPECT_TRUE(names.insert(column.name).second) << place << " is declared twice";
      EXPECT_NE(std::string(column.meaning), "") << place;
      if (column.type == ColumnType::text) {
        EXPECT_EQ(std::string(column.unit), "") << place;
      } else {
        EXPECT_TRUE(units.contains(column.unit)) << place << ": " << column.unit;
      }
    }
  }
}

// The name of a column and its declared unit agree.
TEST(AnalysisTableDeclarations, GiveTheUnitThatTheNameEndsIn) {
  const std::vector<std::pair<std::string, std::string>> units{
      {"_ns", "ns"}, {"_bytes", "bytes"}, {"bytes_per_second", "bytes/s"}, {"flop_per_second", "FLOP/s"}};
  for (const TableDeclaration* table : analysisTables()) {
    for (const Column& column : table->columns) {
      for (const auto& [ending, unit] : units) {
        if (!std::string_view(column.name).ends_with(ending)) continue;
        EXPECT_EQ(std::string(column.unit), unit) << table->name << "." << column.name;
      }
    }
  }
}

TEST_F(AnalysisTables, HaveTextsInColumnsOfTextAlone) {
  ASSERT_NE(analyzed_, nullptr);
  const auto facts = analyzed_->rows("SELECT * FROM analysis_summary");
  ASSERT_EQ(facts.rows.size(), 1U);
  for (std::size_t i = 0; i < facts.columns.size(); ++i) {
    const bool is_text = std::holds_alternative<std::string>(facts.rows[0][i]);
    const bool is_null = std::holds_alternative<std::monostate>(facts.rows[0][i]);
    const std::string unit = analysis::kSummaryTable.columns[i].unit;
    EXPECT_TRUE(is_null || is_text == (unit == "text")) << facts.columns[i];
  }
}

// A share is one, and never negative.
TEST_F(AnalysisTables, HaveSharesBetween0And1) {
  ASSERT_NE(analyzed_, nullptr);
  for (const TableDeclaration* table : analysisTables()) {
    for (const Column& column : table->columns) {
      if (std::string(column.unit) != "0..1" && std::string(column.unit) != "0 or 1") continue;
      const auto out = analyzed_->rows(
          fmt::format("SELECT {0} FROM {1} WHERE {0} NOT BETWEEN 0 AND 1.000001", column.name, table->name));
      EXPECT_EQ(out.rows.size(), 0U) << table->name << "." << column.name;
    }
  }
}

TEST(AnalysisTableDeclarations, AreCheckedWhenARowIsAdded) {
  analysis::TempTable table(analysis::kGapTable);
  EXPECT_DEATH(table.row({std::string("gpu 0"), std::int64_t{0}}), "analysis_gap: 2 values for 6 columns");
}

}  // namespace
}  // namespace pitwall::analysis_tables_test
