// The SQL of one rule: thresholds bound, errors with the place in the rule's file.
#pragma once

#include <string>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/unknown_facts.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

bool isTrue(const SqlValue& value);
std::string asText(const SqlValue& value);

class RuleSql {
 public:
  RuleSql(const Rule& rule, Trace& trace) : rule_(rule), trace_(trace), measure_(rule.measure.text) {}

  Result<SqlRows> rows(const std::string& sql, const std::string& place);
  // The row that measure yielded: expressions are computed over it, and measure runs once.
  void useMeasured(const std::vector<std::string>& columns, const std::vector<SqlValue>& values);
  // An expression over the columns of measure; null when measure has no row.
  Result<SqlValue> overMeasure(const Text& expression);
  Result<SqlValue> overSummary(const Text& expression);
  // Of the rule's measure, which had no row.
  Result<UnknownFacts> unknownFacts();

 private:
  std::vector<SqlParameter> parametersOf(const std::string& sql) const;
  std::string explained(const std::string& message) const;
  Result<SqlValue> single(const std::string& sql, const std::string& place);

  const Rule& rule_;
  Trace& trace_;
  std::string measure_;                 // a SELECT
  std::vector<SqlParameter> measured_;  // its parameters besides thresholds; none before useMeasured()
};

// With the values of the rule's thresholds in place of their names, so that `pitwall query` runs it as it is.
std::string withThresholds(const Rule& rule, const std::string& sql);

}  // namespace pitwall::rules
