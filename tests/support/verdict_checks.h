// Invariants of findings for any trace: no share above 100 %, no gain above the time of its categories in the
// breakdown, evidence and verdict with shares of the same total.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "analyzer/rules/rule.h"
#include "db/reader.h"

namespace pitwall::test {

// Percentages in a text that are more than the whole.
inline std::vector<std::string> sharesBeyondTheWhole(const std::string& text) {
  static const std::regex kShare(R"(([0-9][0-9,]*\.?[0-9]*) %)");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), kShare), end; at != end; ++at) {
    std::string number = (*at)[1].str();
    number.erase(std::remove(number.begin(), number.end(), ','), number.end());
    if (std::atof(number.c_str()) > 100.05) found.push_back(at->str());
  }
  return found;
}

inline std::optional<double> realOf(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

// A rule's SQL with its thresholds as numbers.
inline std::string withThresholds(std::string sql, const rules::Rule& rule) {
  auto thresholds = rule.thresholds;
  std::sort(thresholds.begin(), thresholds.end(),
            [](const auto& a, const auto& b) { return a.name.size() > b.name.size(); });
  for (const auto& threshold : thresholds) {
    const std::string name = ":threshold_" + threshold.name;
    for (std::size_t at = 0; (at = sql.find(name, at)) != std::string::npos;)
      sql.replace(at, name.size(), fmt::format("{}", threshold.value));
  }
  return sql;
}

struct NumbersOfRow {
  std::map<std::string, double> numbers;
  double operator[](const std::string& name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? NAN : found->second;
  }
};

inline std::vector<NumbersOfRow> numbersOf(Trace& trace, const std::string& sql) {
  std::vector<NumbersOfRow> result;
  const auto rows = trace.query(sql);
  if (!rows.has_value()) return result;
  for (const auto& row : rows.value().rows) {
    result.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (const auto number = realOf(row[c])) result.back().numbers[rows.value().columns[c]] = *number;
    }
  }
  return result;
}

inline bool isShare(const std::string& column) {
  // roof_share: the rate from caches may exceed the rate of memory.
  return (column.ends_with("share") && column != "roof_share") || column.ends_with("busy");
}

// The total to which a part and its share refer.
inline double wholeOf(const NumbersOfRow& row) { return row["total_ns"] / row["share"]; }

// The violations of a finding of the rule; the trace has the tables from which it was computed.
inline std::vector<std::string> complaintsAbout(const Finding& finding, const rules::Rule& rule, Trace& trace,
                                                const Breakdown& breakdown) {
  std::vector<std::string> complaints;
  const auto reportError = [&](const std::string& what) { complaints.push_back(finding.id + ": " + what); };
  for (const std::string& text : {finding.verdict, finding.gain_method, finding.guard}) {
    for (const auto& share : sharesBeyondTheWhole(text)) reportError(share + " in: " + text);
  }
  const auto measured = numbersOf(trace, withThresholds(rule.measure.text, rule));
  const auto evidence =
      rule.evidence.empty() ? measured : numbersOf(trace, withThresholds(rule.evidence.text, rule));
  if (measured.empty()) reportError("measure has no row, and yet it fires");
  for (const auto* rows : {&measured, &evidence}) {
    for (const auto& row : *rows) {
      for (const auto& [column, number] : row.numbers) {
        if (isShare(column) && (number > 1 + 1e-6 || number < -1e-6))
          reportError(fmt::format("{} is {}", column, number));
      }
    }
  }
  const bool comparable = !measured.empty() && !evidence.empty() && measured[0]["share"] > 0 &&
                          evidence[0]["share"] > 0 && measured[0]["total_ns"] > 0;
  if (comparable && std::fabs(wholeOf(measured[0]) / wholeOf(evidence[0]) - 1) > 0.02)
    reportError(fmt::format("the verdict's share is of {:.0f} ns, its evidence's of {:.0f} ns",
                            wholeOf(measured[0]), wholeOf(evidence[0])));
  double claimed = 0;
  for (const auto& category : rule.claims) claimed += breakdown.share(category);
  if (finding.gain_low < 0 || finding.gain_low > finding.gain_high || finding.gain_high > claimed + 1e-6)
    reportError(
        fmt::format("gain {} to {}, of {} that there is", finding.gain_low, finding.gain_high, claimed));
  return complaints;
}

inline std::vector<std::string> complaintsAbout(const Report& report, const std::vector<rules::Rule>& rules,
                                                Trace& trace) {
  std::vector<std::string> all;
  double predicted = 0;
  for (const auto& finding : report.findings) {
    predicted += finding.gain_high;
    for (const auto& rule : rules) {
      if (rule.id != finding.id) continue;
      const auto complaints = complaintsAbout(finding, rule, trace, report.breakdown);
      all.insert(all.end(), complaints.begin(), complaints.end());
    }
  }
  double whole = 0;
  for (const auto& part : report.breakdown.shares) {
    whole += part.share;
    if (part.share < -1e-9 || part.share > 1 + 1e-9)
      all.push_back(fmt::format("{} takes {} of the time", part.category, part.share));
  }
  if (predicted > whole + 1e-6) all.push_back(fmt::format("{} of the time is predicted", predicted));
  return all;
}

}  // namespace pitwall::test
