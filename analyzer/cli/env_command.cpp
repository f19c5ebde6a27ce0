#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/emit/text_emitter.h"
#include "db/escaped.h"
#include "db/settings.h"

namespace pitwall::cli {
namespace {

using emit::textCell;

struct InEffect {
  std::string value, source, error;
};

InEffect inEffect(const SettingInfo& info) {
  const std::string name(info.name);
  const char* environment = std::getenv(name.c_str());
  if (environment == nullptr || *environment == '\0') return {std::string(info.default_value), "default", {}};
  InEffect result{environment, "environment", {}};
  if (auto status = checkSettingValue(info, environment); !status.has_value()) {
    result.error = status.error().message;
  }
  return result;
}

std::string orUnset(std::string_view value) { return value.empty() ? "unset" : std::string(value); }

int printAll() {
  emit::Table table{{{"name", "setting", emit::Align::left, false},
                     {"value", "value"},
                     {"default", "default", emit::Align::left, true, true},
                     {"status", "status", emit::Align::left, false}}};
  std::vector<std::string> errors;
  for (const auto& info : settingCatalogue()) {
    const auto effect = inEffect(info);
    const std::string mark = effect.source == "environment" ? "*" : "";
    table.rows.push_back({textCell(info.name), textCell(orUnset(effect.value) + mark),
                          textCell(orUnset(info.default_value)), textCell(toString(info.status))});
    if (!effect.error.empty()) errors.push_back(effect.error);
  }
  emit::TextEmitter emitter({.width = listWidth()});
  emitter.table("", "", table);
  emitter.heading(fmt::format("{} settings; * marks those set in this environment", table.rows.size()));
  emitter.paragraph(
      "honoured: Pitwall's runtime obeys it. external: a library that the program links reads it. planned: "
      "the runtime does not support it. Explain one: pitwall env NAME");
  print("{}", std::move(emitter).take());
  for (const auto& error : errors) printNote("pitwall: {}\n", escaped(error));
  return errors.empty() ? kDone : kUsage;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

// Levenshtein, in any case of letters.
std::size_t editDistance(std::string_view left, std::string_view right) {
  const std::string a = lower(left), b = lower(right);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

// Names that contain the requested text come first, then by edit distance.
std::vector<std::string_view> nearest(const std::string& name) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  const std::string asked = lower(name);
  for (const auto& info : settingCatalogue()) {
    const bool contains = lower(info.name).find(asked) != std::string::npos;
    const auto distance = contains ? 0 : editDistance(name, info.name);
    if (contains || distance <= std::max<std::size_t>(3, name.size() / 3))
      ranked.emplace_back(distance, info.name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  for (const auto& [distance, found] : ranked) {
    if (names.size() < 5) names.push_back(found);
  }
  return names;
}

int explain(const std::string& name) {
  const auto* info = findSetting(name);
  if (info == nullptr) {
    std::string message = fmt::format("'{}' is not a known setting.", name);
    const auto names = nearest(name);
    for (const auto& found : names)
      message += (&found == &names.front() ? " Did you mean " : ", ") + std::string(found);
    message += names.empty() ? " 'pitwall env' lists all." : "?";
    return reportError(message, kUsage);
  }
  const auto effect = inEffect(*info);
  emit::TextEmitter emitter({});
  emitter.beginObject("", info->name, emit::Style::plain);
  emitter.paragraph(info->meaning);
  const auto field = [&emitter](const char* label, const std::string& value) {
    emitter.field("", label, textCell(value));
  };
  field("value", fmt::format("{} ({})", orUnset(effect.value), effect.source));
  field("default", orUnset(info->default_value));
  std::string type = toString(info->type);
  if (!info->allowed.empty()) type += fmt::format(" {}", info->allowed);
  if (!info->unit.empty()) type += fmt::format(", {}", info->unit);
  field("type", type);
  field("owner", std::string(info->owner));
  field("status", std::string(toString(info->status)) +
                      (info->since.empty() ? "" : fmt::format(" since {}", info->since)));
  field("note", std::string(info->note));
  field("source", std::string(info->source));
  print("{}", std::move(emitter).take().substr(1));
  return effect.error.empty() ? kDone : reportError(effect.error, kUsage);
}

}  // namespace

int env(const std::string& name) { return name.empty() ? printAll() : explain(name); }

}  // namespace pitwall::cli
