// What a search has found, as JSON. docs/tuning.md describes the fields.
#include <fmt/core.h>

#include <cmath>

#include "analyzer/tune.h"
#include "db/json_string.h"

namespace pitwall {
namespace {

// One object or list, on its own lines.
class JsonText {
 public:
  void open(std::string_view key, char bracket) {
    begin(key);
    text_ += bracket;
    is_empty_ = true;
    ++depth_;
  }
  void close(char bracket) {
    --depth_;
    if (!is_empty_) newLine();
    text_ += bracket;
    is_empty_ = false;
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    appendJsonString(value, text_);
  }
  void textOrNull(std::string_view key, std::string_view value) {
    if (value.empty()) return literal(key, "null");
    text(key, value);
  }
  void number(std::string_view key, double value, bool is_known = true) {
    literal(key, is_known && std::isfinite(value) ? fmt::format("{}", value) : "null");
  }
  void truth(std::string_view key, bool value) { literal(key, value ? "true" : "false"); }
  std::string take() && { return std::move(text_) + "\n"; }

 private:
  void literal(std::string_view key, std::string_view value) {
    begin(key);
    text_ += value;
  }
  // In a list the key is empty.
  void begin(std::string_view key) {
    if (depth_ > 0) {
      if (!is_empty_) text_ += ',';
      newLine();
    }
    is_empty_ = false;
    if (key.empty()) return;
    appendJsonString(key, text_);
    text_ += ": ";
  }
  void newLine() { text_.append("\n").append(static_cast<std::size_t>(2 * depth_), ' '); }

  std::string text_;
  int depth_ = 0;
  bool is_empty_ = true;
};

void addRow(const TuneRow& row, JsonText& json) {
  json.open("", '{');
  json.text("settings", row.settings);
  json.textOrNull("rule", row.rule);
  json.truth("combination", row.is_combination);
  json.number("predicted_low", row.predicted_low, row.predicted_high > 0);
  json.number("predicted_high", row.predicted_high, row.predicted_high > 0);
  json.textOrNull("method", row.method);
  json.textOrNull("beside", row.beside);
  json.number("pairs", row.pairs);
  json.number("screened_runs", row.screened_runs);
  json.number("ratio", row.ratio, row.pairs + row.screened_runs > 0);
  json.number("low", row.low, row.has_interval);
  json.number("high", row.high, row.has_interval);
  json.number("before", row.before, row.pairs + row.screened_runs > 0);
  json.number("after", row.after, row.pairs + row.screened_runs > 0);
  json.text("conclusion", row.conclusion);
  json.textOrNull("why", row.why);
  json.truth("kept", row.is_kept);
  json.close('}');
}

}  // namespace

std::string tuneAsJson(const TuneOutcome& outcome) {
  JsonText json;
  json.open("", '{');
  json.number("schema_version", 1);
  json.text("metric", outcome.metric);
  json.truth("lower_is_better", outcome.lower_is_better);
  json.textOrNull("best",
                  outcome.best < 0 ? "" : outcome.rows[static_cast<std::size_t>(outcome.best)].settings);
  json.open("rows", '[');
  for (const TuneRow& row : outcome.rows) addRow(row, json);
  json.close(']');
  json.open("best_command", '[');
  for (const std::string& word : outcome.best_command) json.text("", word);
  json.close(']');
  json.textOrNull("best_env", outcome.best_env);
  json.textOrNull("first_trace", outcome.first_trace);
  json.textOrNull("best_trace", outcome.best_trace);
  json.number("runs", outcome.runs);
  json.number("seconds", outcome.seconds);
  json.truth("interrupted", outcome.interrupted);
  json.textOrNull("ended", outcome.ended);
  json.open("notes", '[');
  for (const std::string& note : outcome.notes) json.text("", note);
  json.close(']');
  json.close('}');
  return std::move(json).take();
}

}  // namespace pitwall
