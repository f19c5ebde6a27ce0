// A trace of another tool, imported and analysed, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "db/import.h"
#include "db/reader.h"

namespace pitwall::test {

// With its report; the tables can be queried. The destructor removes the file.
struct Analyzed {
  std::string path;
  std::unique_ptr<Trace> trace;
  Report report;
  std::string error;
  ~Analyzed() {
    trace.reset();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  const Finding* finding(const std::string& id) const {
    for (const auto& finding : report.findings) {
      if (finding.id == id) return &finding;
    }
    return nullptr;
  }
  SqlRows rows(const std::string& sql) const {
    auto rows = trace->query(sql);
    EXPECT_TRUE(rows.has_value()) << sql;
    return rows.has_value() ? rows.value() : SqlRows{};
  }
  double number(const std::string& sql) const {
    const auto answer = rows(sql);
    if (answer.rows.empty()) return NAN;
    const auto& value = answer.rows[0][0];
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    const auto* real = std::get_if<double>(&value);
    return real != nullptr ? *real : NAN;
  }
};

// Several files are one trace. What went wrong is in `error`.
inline std::unique_ptr<Analyzed> analyzeFiles(const std::vector<std::string>& inputs) {
  auto result = std::make_unique<Analyzed>();
  result->path =
      (std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-corpus-{}.pitwall", getpid()))
          .string();
  const auto imported = importToFile(inputs, result->path);
  if (!imported.has_value()) return result->error = imported.error().message, std::move(result);
  auto trace = Trace::open(result->path);
  if (!trace.has_value()) return result->error = trace.error().message, std::move(result);
  result->trace = std::move(trace).value();
  auto report = analyzeTrace(*result->trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  if (!report.has_value()) return result->error = report.error().message, std::move(result);
  result->report = std::move(report).value();
  return result;
}

}  // namespace pitwall::test
