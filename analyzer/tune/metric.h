// What a trial measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/reader.h"
#include "db/result.h"

namespace pitwall::tuning {

enum class MetricKind : std::uint8_t {
  output,      // numbers in what the program prints
  iterations,  // items, else iterations, per second of the trace's steady iterations
  wall,        // seconds from the start of the program to its end
};

struct Metric {
  MetricKind kind = MetricKind::wall;
  std::string expression;  // of `output`: a regular expression whose first group is the number
  bool lower_is_better = true;
  std::string name = "seconds";  // for tables

  // More is better, always above 0 for a value above 0.
  double rateOf(double value) const { return lower_is_better ? 1 / value : value; }
  double valueOf(double rate) const { return lower_is_better ? 1 / rate : rate; }
};

// Checks an expression. Errors: invalidInput (not an expression, no group), naming `option`.
Status checkExpression(const std::string& expression, const char* option);

// All numbers that the first group of the expression matches, line by line. The expression is valid.
struct Matches {
  std::optional<double> typical;  // their median, of three or more without the first: that includes the start
  std::optional<double> last;
};
Matches matchesOf(std::string_view output, const std::string& expression);

// Items per second of the steady iterations, iterations per second where items are unknown. Errors: notFound (the trace has no
// marks or step ranges, or fewer than three steady iterations); those of Trace::open and of the analyses.
struct IterationRate {
  double per_second = 0;
  bool of_items = false;
};
Result<IterationRate> iterationRate(const std::string& trace_path);

}  // namespace pitwall::tuning
