#include "analyzer/cli/describe.h"

#include "analyzer/cli/manual_texts.h"
#include "analyzer/rules/rule_set.h"
#include "db/settings.h"

namespace pitwall::cli {
namespace {

using manual::Value;

std::vector<std::string> ruleNames() {
  std::vector<std::string> names;
  const auto set = rules::loadRules({{}, {}});
  if (!set.has_value()) return names;
  for (const auto& rule : set->rules) names.push_back(rule.id);
  return names;
}

std::vector<std::string> settingNames() {
  std::vector<std::string> names;
  for (const SettingInfo& info : settingCatalogue()) {
    if (!info.name.ends_with('*')) names.emplace_back(info.name);
  }
  return names;
}

// "{text,json}" of CLI::IsMember; empty for the texts of other validators.
std::vector<std::string> choicesOf(const std::string& type) {
  const auto open = type.find(":{");
  const auto close = type.find('}', open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string choice;
  for (std::size_t i = open + 2; i <= close; ++i) {
    if (i == close || type[i] == ',') {
      choices.push_back(choice);
      choice.clear();
    } else {
      choice += type[i];
    }
  }
  return choices;
}

Value valueOf(const CLI::Option& option) {
  Value value;
  if (option.get_items_expected_max() == 0) return value;  // a flag
  const std::string type = option.get_type_name();
  value.placeholder = type.substr(0, type.find(':'));
  value.choices = choicesOf(type);
  const std::string& name = value.placeholder;
  if (name == "FILE" || name == "TRACE" || name == "INPUT" || name == "OUT.pitwall")
    value.kind = Value::Kind::file;
  if (name == "DIR") value.kind = Value::Kind::folder;
  if (name == "RULE" || name == "ID") value.known = ruleNames();
  if (name == "NAME") value.known = settingNames();
  value.default_value = option.get_default_str();
  value.required = option.get_required();
  value.repeated = option.get_items_expected_max() > 1;
  return value;
}

manual::Option describeOption(const CLI::Option& option) {
  manual::Option described;
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  described.value = valueOf(option);
  described.meaning = option.get_description();
  return described;
}

manual::Command describeCommand(const CLI::App& app, const std::string& name) {
  manual::Command command;
  command.name = name;
  command.summary = app.get_description();
  if (command.summary.ends_with('.')) command.summary.pop_back();
  command.text = manualTextOf(name);
  for (const CLI::Option* option : app.get_options()) {
    auto& list = option->get_positional() ? command.arguments : command.options;
    list.push_back(describeOption(*option));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    command.commands.push_back(describeCommand(*below, name + " " + below->get_name()));
  return command;
}

}  // namespace

manual::Command describe(const CLI::App& app) {
  manual::Command command = describeCommand(app, app.get_name());
  command.own_pages = true;
  for (manual::Command& below : command.commands) below.runs_program = below.name == "pitwall record";
  return command;
}

}  // namespace pitwall::cli
