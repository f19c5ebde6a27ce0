#include "db/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "db/sqlite/connection.h"
#include "db/try.h"

namespace pitwall {
namespace {

namespace fs = std::filesystem;

// "PWLG": marks the file as a ledger.
constexpr std::int64_t kLedgerId = 0x50574c47;

constexpr char kLedgerSchema[] = R"(
CREATE TABLE IF NOT EXISTS prediction(
  id INTEGER PRIMARY KEY,          -- order of measuring
  unix_s INTEGER NOT NULL,         -- when it was measured, seconds since 1970
  machine TEXT NOT NULL,           -- model of the processor
  program TEXT NOT NULL,           -- name of the program, without arguments
  rule TEXT NOT NULL,              -- rule that predicted
  method TEXT NOT NULL,            -- how it predicted
  settings TEXT NOT NULL,          -- NAME=VALUE, separated by blanks
  predicted_low REAL NOT NULL,     -- how many times as fast, at least
  predicted_high REAL NOT NULL,    -- and at most
  ratio REAL NOT NULL,             -- how many times as fast it was: median ratio of pairs of runs
  low REAL NOT NULL,               -- its interval
  high REAL NOT NULL,
  pairs INTEGER NOT NULL,          -- of runs
  conclusion TEXT NOT NULL         -- of the search
) STRICT;
)";

bool isAbsolutePath(const char* path) { return path != nullptr && path[0] == '/'; }

Result<store::Connection> openLedger(const std::string& path, store::OpenMode mode) {
  auto connection = PITWALL_TRY(store::Connection::open(path, mode));
  PITWALL_TRY(connection.execute("PRAGMA busy_timeout = 10000"));
  const auto id = PITWALL_TRY(connection.integer("PRAGMA application_id"));
  const auto tables = PITWALL_TRY(connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (id != kLedgerId && tables > 0) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "{}: is not a ledger of Pitwall; move it away, or choose another folder with XDG_DATA_HOME",
            path));
  }
  return connection;
}

Status insertAll(store::Connection& ledger, std::span<const LedgerRow> rows) {
  auto insert = PITWALL_TRY(ledger.prepare(
      "INSERT INTO prediction(unix_s, machine, program, rule, method, settings, predicted_low, "
      "predicted_high, ratio, "
      "low, high, pairs, conclusion) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
  for (const LedgerRow& row : rows) {
    using Text = std::string_view;
    insert.bind(1, row.unix_s).bind(2, Text(row.machine)).bind(3, Text(row.program)).bind(4, Text(row.rule));
    insert.bind(5, Text(row.method)).bind(6, Text(row.settings)).bind(7, row.predicted_low);
    insert.bind(8, row.predicted_high).bind(9, row.ratio).bind(10, row.low).bind(11, row.high);
    insert.bind(12, row.pairs).bind(13, Text(row.conclusion));
    PITWALL_TRY(insert.run());
  }
  return {};
}

double middleOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

LedgerSummary summaryOf(const std::string& rule, const std::vector<const LedgerRow*>& rows) {
  LedgerSummary summary;
  summary.rule = rule;
  std::vector<double> errors, measured;
  for (const LedgerRow* row : rows) {
    ++summary.predictions;
    if (row->ratio >= row->predicted_low && row->ratio <= row->predicted_high) ++summary.held;
    errors.push_back(std::fabs(row->ratio / std::sqrt(row->predicted_low * row->predicted_high) - 1));
    measured.push_back(row->ratio);
  }
  summary.median_error = middleOf(std::move(errors));
  summary.median_measured = middleOf(std::move(measured));
  return summary;
}

}  // namespace

std::string ledgerPath() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); isAbsolutePath(data))
    return (fs::path(data) / "pitwall/ledger.sqlite").string();
  const char* home = std::getenv("HOME");
  return isAbsolutePath(home) ? (fs::path(home) / ".local/share/pitwall/ledger.sqlite").string() : "";
}

Status addToLedger(const std::string& path, std::span<const LedgerRow> rows) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  auto ledger = PITWALL_TRY(openLedger(path, store::OpenMode::createFile));
  PITWALL_TRY(ledger.execute("BEGIN IMMEDIATE"));
  PITWALL_TRY(ledger.execute(fmt::format("PRAGMA application_id = {};{}", kLedgerId, kLedgerSchema).c_str()));
  PITWALL_TRY(insertAll(ledger, rows));
  return ledger.execute("COMMIT");
}

Result<std::vector<LedgerRow>> readLedger(const std::string& path) {
  std::vector<LedgerRow> rows;
  std::error_code error;
  if (!fs::exists(path, error)) return rows;
  auto ledger = PITWALL_TRY(openLedger(path, store::OpenMode::readOnly));
  auto select =
      PITWALL_TRY(ledger.prepare("SELECT unix_s, machine, program, rule, method, settings, predicted_low, "
                                 "predicted_high, ratio, low, high, pairs, "
                                 "conclusion FROM prediction ORDER BY id"));
  while (PITWALL_TRY(select.step())) {
    rows.push_back({select.integer(0), select.text(1), select.text(2), select.text(3), select.text(4),
                    select.text(5), select.real(6), select.real(7), select.real(8), select.real(9),
                    select.real(10), select.integer(11), select.text(12)});
  }
  return rows;
}

std::vector<LedgerSummary> summarizeLedger(std::span<const LedgerRow> rows) {
  std::map<std::string, std::vector<const LedgerRow*>> by_rule;
  std::vector<const LedgerRow*> all;
  for (const LedgerRow& row : rows) {
    by_rule[row.rule].push_back(&row);
    all.push_back(&row);
  }
  std::vector<LedgerSummary> summaries;
  for (const auto& [rule, of_rule] : by_rule) summaries.push_back(summaryOf(rule, of_rule));
  if (!all.empty()) summaries.push_back(summaryOf("", all));
  return summaries;
}

}  // namespace pitwall
