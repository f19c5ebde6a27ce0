#include "analyzer/rules/unknown_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "analyzer/rules/sql_text.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

using Texts = std::vector<std::string>;

// Without devices these facts do not exist; they are not unknown.
bool isOfDevices(std::string_view fact) {
  constexpr std::array kFacts{"carried_in_share",          "gpu_busy_share",      "gpu_idle_share",
                              "computation_share",         "copies_share",        "host_wait_share",
                              "kernel_wait_share",         "communication_share", "synchronisation_share",
                              "communication_total_share", "short_kernel_share",  "kernel_p50_ns",
                              "launch_delay_p50_ns",       "launches_matched"};
  return std::find(kFacts.begin(), kFacts.end(), fact) != kFacts.end();
}

bool exists(std::string_view fact, const std::map<std::string, SqlValue>& facts) {
  const auto isPositive = [&](const char* name) {
    const auto found = facts.find(name);
    if (found == facts.end()) return false;
    const auto* number = std::get_if<std::int64_t>(&found->second);
    return number != nullptr && *number > 0;
  };
  if (isOfDevices(fact)) return isPositive("devices");
  if (fact == "communication_overlap") return isPositive("collectives");
  return fact != "exit_signal" && fact != "shell_signal";  // none: no signal ended the program
}

// Every text that the SQL compares with, without the '%' of a pattern.
std::set<std::string> literalsIn(const std::string& sql) {
  std::set<std::string> literals;
  for (std::size_t at = sql.find('\''); at != std::string::npos; at = sql.find('\'', at)) {
    const auto end = sql.find('\'', at + 1);
    if (end == std::string::npos) break;
    std::string text = sql.substr(at + 1, end - at - 1);
    text.erase(std::remove(text.begin(), text.end(), '%'), text.end());
    if (text.size() < 32) literals.insert(text);
    at = end + 1;
  }
  return literals;
}

bool isName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool handlesUnknown(const std::string& sql, const std::string& fact) {
  for (auto at = sql.find(fact); at != std::string::npos; at = sql.find(fact, at + 1)) {
    const auto after = at + fact.size();
    if ((at > 0 && isName(sql[at - 1])) || (after < sql.size() && isName(sql[after]))) continue;
    std::size_t before = at;  // of its table's name, as in "s.backend"
    while (before > 0 && (isName(sql[before - 1]) || sql[before - 1] == '.')) --before;
    constexpr std::string_view kCoalesce = "coalesce(";
    const bool is_argument = before >= kCoalesce.size() &&
                             sql.compare(before - kCoalesce.size(), kCoalesce.size(), kCoalesce) == 0;
    if (is_argument || sql.compare(after, 4, " IS ") == 0) return true;
  }
  return false;
}

namespace {

// The replacements of an unknown fact.
std::vector<SqlValue> valuesFor(const std::string& sql) {
  std::vector<SqlValue> values{
      std::int64_t{0},  0.5,  std::int64_t{1},     std::int64_t{2}, std::int64_t{4}, std::int64_t{16},
      std::int64_t{64}, 1e15, std::string("other")};
  for (const auto& literal : literalsIn(sql)) values.emplace_back(literal);
  return values;
}

using Row = std::vector<SqlValue>;

// Rows of values for the unknown facts: all the same, or one known and the others left unknown.
std::vector<Row> rowsOf(const std::vector<SqlValue>& values, std::size_t facts) {
  std::vector<Row> rows;
  for (const auto& value : values) {
    rows.emplace_back(facts, value);
    for (std::size_t f = 0; facts > 1 && f < facts; ++f) {
      rows.emplace_back(facts);
      rows.back()[f] = value;
    }
  }
  return rows;
}

std::string parameterName(std::size_t fact) { return fmt::format(":unknown_fact_{}", fact); }

// analysis_summary with a parameter for each unknown fact.
std::string summaryWith(const Texts& columns, const Texts& unknown) {
  std::string selected;
  for (const auto& column : columns) {
    const auto found = std::find(unknown.begin(), unknown.end(), column);
    selected += selected.empty() ? "" : ", ";
    selected += found == unknown.end()
                    ? column
                    : fmt::format("{} AS {}",
                                  parameterName(static_cast<std::size_t>(found - unknown.begin())), column);
  }
  return fmt::format("SELECT {} FROM temp.analysis_summary", selected);
}

// Whether the measure has a row, given values for the unknown facts as parameters. Not materialized: SQLite then reads only the columns
// on which that depends.
std::string questionOf(const std::string& measure, const Texts& columns, const Texts& unknown) {
  return fmt::format("WITH analysis_summary AS NOT MATERIALIZED ({}) SELECT 1 FROM ({}) LIMIT 1",
                     summaryWith(columns, unknown), measure);
}

// The facts whose values SQLite reads to answer the question. Others are printed only: whatever they are, the answer is the same. All of
// them where SQLite does not name the parameters that its program reads.
Result<Texts> decisive(const Texts& unknown, const std::string& question,
                       std::span<const SqlParameter> parameters, Trace& trace) {
  constexpr std::size_t kOpcode = 1, kP4 = 5;  // https://www.sqlite.org/opcode.html
  const auto program = PITWALL_TRY(trace.query("EXPLAIN " + question, parameters));
  std::set<std::string> read;
  for (const auto& instruction : program.rows) {
    const auto* opcode = std::get_if<std::string>(&instruction[kOpcode]);
    if (opcode == nullptr || *opcode != "Variable") continue;
    const auto* name = std::get_if<std::string>(&instruction[kP4]);
    if (name == nullptr || name->empty()) return unknown;
    read.insert(*name);
  }
  Texts facts;
  for (std::size_t f = 0; f < unknown.size(); ++f)
    if (read.contains(parameterName(f))) facts.push_back(unknown[f]);
  return facts;
}

std::vector<SqlParameter> parametersWith(std::span<const SqlParameter> parameters, std::size_t facts) {
  std::vector<SqlParameter> all(parameters.begin(), parameters.end());
  for (std::size_t f = 0; f < facts; ++f) all.push_back({parameterName(f), {}});
  return all;
}

}  // namespace

Result<UnknownFacts> unknownFactsOf(const std::string& measure, std::span<const SqlParameter> parameters,
                                    Trace& trace) {
  auto summary = PITWALL_TRY(trace.query("SELECT * FROM temp.analysis_summary"));
  UnknownFacts unknown;
  if (summary.rows.empty()) return unknown;
  const auto& columns = summary.columns;
  const auto& row = summary.rows.front();
  std::map<std::string, SqlValue> facts;
  for (std::size_t c = 0; c < columns.size(); ++c) facts.emplace(columns[c], row[c]);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (std::holds_alternative<std::monostate>(row[c]) && mentions(measure, columns[c]) &&
        exists(columns[c], facts) && !handlesUnknown(measure, columns[c]))
      unknown.columns.push_back(columns[c]);
  }
  if (unknown.columns.empty()) return unknown;
  unknown.columns = PITWALL_TRY(decisive(unknown.columns, questionOf(measure, columns, unknown.columns),
                                         parametersWith(parameters, unknown.columns.size()), trace));
  if (unknown.columns.empty()) return unknown;

  // One text for all rows, so that it is prepared once.
  const std::string sql = questionOf(measure, columns, unknown.columns);
  std::vector<SqlParameter> given = parametersWith(parameters, unknown.columns.size());
  const auto values = std::span(given).last(unknown.columns.size());
  for (const Row& values_of_row : rowsOf(valuesFor(measure), unknown.columns.size())) {
    for (std::size_t f = 0; f < values.size(); ++f) values[f].value = values_of_row[f];
    const auto fired = PITWALL_TRY(trace.query(sql, given));
    unknown.could_fire = !fired.rows.empty();
    if (unknown.could_fire) break;
  }
  return unknown;
}

std::string describeFact(const std::string& column) {
  struct Words {
    std::string_view column, text;
  };
  constexpr Words kWords[] = {{"usable_cpus", "the number of usable CPUs"},
                              {"usable_cores", "the number of usable cores"},
                              {"openmp_runtime", "which OpenMP runtime is loaded"},
                              {"openmp_threads", "the number of OpenMP threads"},
                              {"memory_bytes", "the machine's memory"},
                              {"peak_bytes", "the peak of memory in use"},
                              {"backend", "which kernels ran the operators"},
                              {"engine", "which engine ran the operators"},
                              {"kvstore", "the type of kvstore"},
                              {"runnable_cpus", "the CPUs that threads use"},
                              {"idle_share", "the time between operators"},
                              {"operators_share", "the time of operators"},
                              {"data_wait_share", "the time of waiting for data"}};
  for (const auto& words : kWords) {
    if (words.column == column) return std::string(words.text);
  }
  std::string text = column;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace pitwall::rules
