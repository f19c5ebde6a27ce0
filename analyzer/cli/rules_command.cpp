#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "analyzer/analysis.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/emit/text_emitter.h"
#include "analyzer/rules/rule_set.h"
#include "db/escaped.h"

namespace pitwall::cli {
namespace {

std::string oneLine(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank || (!flat.empty() && flat.back() != ' ')) flat += blank ? ' ' : c;
  }
  return flat;
}

}  // namespace

int rulesList(const std::vector<std::string>& folders) {
  auto set = rules::loadRules({folders, {}});
  if (!set.has_value()) return reportError(set.error().message, kUsage);
  emit::Table table{{{"id", "rule", emit::Align::left, false}, {"title", "what it finds"}}};
  for (const auto& rule : set.value().rules)
    table.rows.push_back({emit::textCell(rule.id), emit::textCell(rule.title)});
  emit::TextEmitter emitter({.width = listWidth()});
  emitter.table("", "", table);
  print("{}\n{} rules, {}.\n", std::move(emitter).take(), table.rows.size(), set.value().source);
  return kDone;
}

int rulesShow(const std::string& id, const std::vector<std::string>& folders) {
  auto set = rules::loadRules({folders, {}});
  if (!set.has_value()) return reportError(set.error().message, kUsage);
  for (const auto& rule : set.value().rules) {
    if (rule.id != id) continue;
    emit::TextEmitter emitter({});
    emitter.beginObject("", fmt::format("{}: {}", rule.id, rule.title), emit::Style::plain);
    emitter.field("", "finds", emit::textCell(oneLine(rule.verdict.text)));
    for (const auto& t : rule.thresholds) {
      emitter.field("", "threshold",
                    emit::textCell(fmt::format("{}.{} = {:g} {}: {} [{}]", rule.id, t.name, t.value, t.unit,
                                               t.meaning, t.source)));
    }
    for (const auto& a : rule.abstains) emitter.field("", "abstains", emit::textCell(oneLine(a.reason)));
    for (const auto& p : rule.proposals)
      emitter.field("", "proposes", emit::textCell(p.name + ": " + oneLine(p.reason.text)));
    emitter.field("", "gain", emit::textCell(oneLine(rule.gain_method.text)));
    emitter.field("", "wrong if", emit::textCell(oneLine(rule.guard.text)));
    emitter.field("", "file", emit::textCell(rule.file));
    print("{}", std::move(emitter).take().substr(1));
    print("\n   measure\n{}\n", rule.measure.text);
    return kDone;
  }
  return reportError(fmt::format("no rule '{}'; 'pitwall rules list' names all", id), kUsage);
}

int rulesCheck(const std::vector<std::string>& files) {
  int code = kDone;
  for (const auto& file : files) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error) || !std::filesystem::exists(file, error)) {
      code = reportError(
          file + (std::filesystem::exists(file, error) ? ": is a folder" : ": there is no such file") +
              "; give the path of a rule file (TOML)",
          kUsage);
      continue;
    }
    if (auto status = checkRuleFile(file); !status.has_value()) {
      code = reportError(status.error().message, kUsage);
    } else {
      print("{}: ok\n", escaped(file));
    }
  }
  return code;
}

}  // namespace pitwall::cli
