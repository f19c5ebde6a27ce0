#include "analyzer/tune/history.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/escaped.h"
#include "db/export.h"
#include "db/try.h"

namespace pitwall::tuning {
namespace {

constexpr char kFirstLine[] = "# Runs of 'pitwall tune', version 2";
constexpr char kColumns[] =
    "stage\tround\tcandidate\tsettings\trate\tkeep\tseconds\tdisturbed\tbudget\truns\tcause";
constexpr std::array kStages = {Stage::screen, Stage::confirm};

std::vector<std::string> cellsOf(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t tab = std::min(line.find('\t', at), line.size());
    cells.push_back(line.substr(at, tab - at));
    at = tab + 1;
  }
  return cells;
}

std::string lineOf(const History::Entry& entry) {
  const RunResult& result = entry.result;
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", toString(entry.run.stage),
                     entry.run.round, entry.run.candidate, entry.settings, result.rate,
                     result.keep ? fmt::format("{}", *result.keep) : "", result.seconds,
                     result.disturbed ? "yes" : "no", entry.budget_s, entry.most_runs, escaped(result.cause));
}

std::optional<History::Entry> entryFrom(const std::string& line) {
  const auto cells = cellsOf(line);
  if (cells.size() != 11) return std::nullopt;
  History::Entry entry;
  for (const Stage stage : kStages) {
    if (cells[0] == toString(stage)) entry.run.stage = stage;
  }
  entry.run.round = std::atoi(cells[1].c_str());
  entry.run.candidate = std::strtoul(cells[2].c_str(), nullptr, 10);
  entry.settings = cells[3];
  entry.result.rate = std::strtod(cells[4].c_str(), nullptr);
  if (!cells[5].empty()) entry.result.keep = std::strtod(cells[5].c_str(), nullptr);
  entry.result.seconds = std::strtod(cells[6].c_str(), nullptr);
  entry.result.disturbed = cells[7] == "yes";
  entry.budget_s = std::strtod(cells[8].c_str(), nullptr);
  entry.most_runs = std::atoi(cells[9].c_str());
  entry.result.cause = cells[10];
  return entry;
}

std::string textOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Result<History> History::open(const std::string& path, const std::string& identity, bool restart) {
  History history(path, escaped(identity));
  std::error_code error;
  if (restart || !std::filesystem::exists(path, error)) return history;
  PITWALL_TRY(history.read(textOfFile(path)));
  return history;
}

Status History::read(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}: was not written by this version of 'pitwall tune'; begin anew with --restart, or "
                    "choose another folder with -o",
                    path_));
  }
  std::string identity;
  while (std::getline(lines, line) && line != kColumns) {
    const auto cells = cellsOf(line);
    if (cells.size() < 2) continue;
    if (cells[0] == "search") identity = line.substr(cells[0].size() + 1);
    if (cells[0] == "first") first_seconds_ = std::strtod(cells[1].c_str(), nullptr);
    if (cells[0] == "finished") is_finished_ = true;
  }
  while (std::getline(lines, line)) {
    if (auto entry = entryFrom(line)) entries_.push_back(std::move(*entry));
  }
  if (is_finished_) {
    entries_.clear();
    first_seconds_ = 0;
    is_finished_ = false;
    return {};
  }
  if (identity == identity_) return {};
  return fail(
      ErrorCode::invalidInput,
      fmt::format("{}: has an unfinished search of another program or with other options; forget it with "
                  "--restart, or choose another folder with -o",
                  path_));
}

Status History::write() const {
  std::string text = fmt::format("{}\nsearch\t{}\n", kFirstLine, identity_);
  if (first_seconds_ > 0) text += fmt::format("first\t{}\n", first_seconds_);
  if (is_finished_) text += "finished\tyes\n";
  text += std::string(kColumns) + "\n";
  for (const Entry& entry : entries_) text += lineOf(entry);
  return replaceFile(path_, text);
}

Status History::setFirst(double seconds) {
  first_seconds_ = seconds;
  entries_.clear();
  return write();
}

Status History::add(Entry entry) {
  entries_.push_back(std::move(entry));
  return write();
}

Status History::finish() {
  is_finished_ = true;
  return write();
}

}  // namespace pitwall::tuning
