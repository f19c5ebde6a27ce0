#include "analyzer/rules/rule_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "analyzer/rules/rule_file.h"
#include "db/try.h"

namespace pitwall::rules {
namespace {

namespace fs = std::filesystem;
using RuleMap = std::map<std::string, Rule>;

// ../share/pitwall/rules, relative to the executable; empty when there is none.
std::string installedFolder() {
  std::error_code error;
  const auto executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto folder = executable.parent_path().parent_path() / "share" / "pitwall" / "rules";
  return fs::is_directory(folder, error) ? folder.string() : std::string();
}

Result<std::vector<std::string>> ruleFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  if (error) {
    return fail(ErrorCode::notFound,
                fmt::format("{}: cannot be read as a folder of rules: {}", folder, error.message()));
  }
  for (const fs::recursive_directory_iterator end; entries != end; entries.increment(error)) {
    if (error) return fail(ErrorCode::io, fmt::format("{}: {}", folder, error.message()));
    if (entries->path().extension() == ".toml") files.push_back(entries->path().string());
  }
  if (files.empty()) return fail(ErrorCode::notFound, folder + ": no rule in it (no file named *.toml)");
  std::sort(files.begin(), files.end());
  return files;
}

Status addFolder(const std::string& folder, RuleMap& rules) {
  auto files = PITWALL_TRY(ruleFiles(folder));
  RuleMap here;
  for (const auto& file : files) {
    auto rule = PITWALL_TRY(readRuleFile(file));
    const auto [entry, is_new] = here.emplace(rule.id, rule);
    if (!is_new) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}:1: id '{}' is already used by {}", file, rule.id, entry->second.file));
    }
  }
  for (auto& [id, rule] : here) rules[id] = std::move(rule);
  return {};
}

Status addEmbedded(RuleMap& rules) {
  for (const auto& embedded : embeddedRules()) {
    auto rule = PITWALL_TRY(parseRule(embedded.toml, "built-in rules/" + std::string(embedded.name)));
    rules[rule.id] = std::move(rule);
  }
  return {};
}

// "rule.threshold"; a rule's id has no dot. `given` says where it was specified: "--set input/bound.share",
// "file:3: input/bound.share".
Status applyThreshold(const std::string& name, double value, const std::string& given, RuleMap& rules) {
  const auto dot = name.rfind('.');
  const auto rule = rules.find(name.substr(0, dot));
  if (dot == std::string::npos || rule == rules.end()) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: no rule '{}'; 'pitwall rules list' names all, 'pitwall rules show RULE' its "
                            "thresholds",
                            given, name.substr(0, dot)));
  }
  std::string known;
  for (auto& threshold : rule->second.thresholds) {
    if (threshold.name == name.substr(dot + 1)) {
      if (const auto problem = problemWith(value, threshold.unit))
        return fail(ErrorCode::invalidInput, given + " " + *problem);
      threshold.value = value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + threshold.name;
  }
  return fail(ErrorCode::invalidInput, fmt::format("{}: rule {} has no such threshold; it has: {}", given,
                                                   rule->first, known.empty() ? "none" : known));
}

// Given twice has the same effect as once.
Status switchOff(const std::vector<Text>& ids, RuleMap& rules) {
  std::set<std::string> gone;
  for (const auto& [id, place] : ids) {
    if (rules.erase(id) == 0 && gone.count(id) == 0) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: no rule '{}' to switch off; 'pitwall rules list' names all", place, id));
    }
    gone.insert(id);
  }
  return {};
}

}  // namespace

Result<Rule> readRuleFile(const std::string& path) {
  auto text = PITWALL_TRY(readTextFile(path));
  return parseRule(text, path);
}

Result<RuleSet> loadRules(const AnalyzeOptions& options) {
  RuleMap rules;
  RuleSet set;
  auto folders = options.rule_folders;
  if (const auto installed = installedFolder(); folders.empty() && !installed.empty()) folders = {installed};
  for (const auto& folder : folders) {
    PITWALL_TRY(addFolder(folder, rules));
    set.source += (set.source.empty() ? "" : ", ") + folder;
  }
  if (folders.empty()) {
    PITWALL_TRY(addEmbedded(rules));
    set.source = "built in";
  }
  std::vector<Text> disabled;
  if (!options.config_file.empty()) {
    auto config = PITWALL_TRY(readRuleConfig(options.config_file));
    for (const auto& [name, value, place] : config.thresholds) {
      PITWALL_TRY(applyThreshold(name, value, place + ": " + name, rules));
    }
    disabled = std::move(config.disabled);
  }
  for (const auto& [name, value] : options.thresholds) {
    PITWALL_TRY(applyThreshold(name, value, "--set " + name, rules));
  }
  for (const auto& id : options.disabled) disabled.push_back({id, "--disable"});
  PITWALL_TRY(switchOff(disabled, rules));
  for (auto& [id, rule] : rules) set.rules.push_back(std::move(rule));
  return set;
}

}  // namespace pitwall::rules
