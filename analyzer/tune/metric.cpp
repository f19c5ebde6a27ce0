#include "analyzer/tune/metric.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/compare.h"
#include "db/sql_value.h"
#include "db/try.h"

namespace pitwall::tuning {
namespace {

// std::regex recurses for each character that it matches.
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kFewestIterations = 3;

std::optional<double> numberFrom(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value > -1e300 && value < 1e300)) return std::nullopt;
  return value;
}

double medianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

void takeMatches(const std::string& line, const std::regex& expression, std::vector<double>& numbers) {
  for (auto match = std::sregex_iterator(line.begin(), line.end(), expression);
       match != std::sregex_iterator(); ++match) {
    if (const auto number = numberFrom((*match)[1].str())) numbers.push_back(*number);
  }
}

}  // namespace

Status checkExpression(const std::string& expression, const char* option) {
  try {
    const std::regex valid(expression);
    if (valid.mark_count() >= 1) return {};
    return fail(ErrorCode::invalidInput,
                fmt::format("{} '{}': put the number into parentheses, as in 'Speed: ([0-9.]+)'", option,
                            expression));
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{} '{}': not a regular expression ({}); write one such as 'Speed: ([0-9.]+)'",
                            option, expression, error.what()));
  }
}

Matches matchesOf(std::string_view output, const std::string& expression) {
  std::vector<double> numbers;
  try {
    const std::regex compiled(expression);
    for (std::size_t at = 0; at < output.size();) {
      // Progress lines end in a carriage return.
      const std::size_t end = std::min(output.find_first_of("\r\n", at), output.size());
      takeMatches(std::string(output.substr(at, std::min(end - at, kLongestLine))), compiled, numbers);
      at = end + 1;
    }
  } catch (const std::regex_error&) {  // too complex for a line: as no match
  }
  Matches matches;
  if (numbers.empty()) return matches;
  matches.last = numbers.back();
  if (numbers.size() >= 3) numbers.erase(numbers.begin());
  matches.typical = medianOf(std::move(numbers));
  return matches;
}

Result<IterationRate> iterationRate(const std::string& trace_path) {
  auto trace = PITWALL_TRY(Trace::open(trace_path));
  const Report report = PITWALL_TRY(analyzeTrace(*trace, {.rule_folders = {}, .with_rules = false}));
  const auto source = PITWALL_TRY(trace->query("SELECT iteration_source FROM analysis_summary"));
  const Measured measured = PITWALL_TRY(measure(*trace, report));
  const std::string from = source.rows.empty() ? "" : pitwall::textOf(source.rows[0][0]);
  const std::size_t steady = from == "marks" || from == "step ranges" ? measured.iterations_ns.size() : 0;
  if (steady < kFewestIterations) {
    return fail(
        ErrorCode::notFound,
        fmt::format("{}: has {} steady iterations from marks or ranges, of {} needed; let the program "
                    "run longer, or name a metric with --metric",
                    trace_path, steady, kFewestIterations));
  }
  const double seconds = medianOf(measured.iterations_ns) * 1e-9;
  const bool has_items = measured.items_per_iteration > 0;
  return IterationRate{(has_items ? measured.items_per_iteration : 1) / seconds, has_items};
}

}  // namespace pitwall::tuning
