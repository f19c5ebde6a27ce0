// Completion of zsh, by its function _arguments.
#include <fmt/core.h>

#include "analyzer/manual/shell_words.h"

namespace pitwall::manual {
namespace {

// Within the specifications of _arguments, brackets and colons separate.
std::string described(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// ":FILE:_files".
std::string valueOf(const Value& value) {
  std::string action = " ";
  if (const auto& words = offered(value); !words.empty()) action = "(" + joined(words, " ") + ")";
  if (value.kind == Value::Kind::file) action = "_files";
  if (value.kind == Value::Kind::folder) action = "_files -/";
  return fmt::format(":{}:{}", described(value.placeholder), action);
}

std::string optionLine(const Option& option) {
  const bool takes_value = !option.value.placeholder.empty();
  const std::string text =
      fmt::format("[{}]{}", described(option.meaning), takes_value ? valueOf(option.value) : "");
  // A repeated option may follow itself; else it excludes its other name.
  const std::string before = option.value.repeated ? "*" : "(" + joined(option.names, " ") + ")";
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(name + (!takes_value ? "" : name.starts_with("--") ? "=" : "+"));
  if (names.size() == 1) return inQuotes(before + names.front() + text);
  return fmt::format("{}{{{}}}{}", inQuotes(before), joined(names, ","), inQuotes(text));
}

std::string argumentLine(const Option& argument) {
  return inQuotes((argument.value.repeated ? "*" : "") + valueOf(argument.value));
}

// Which command follows, and its own function for the words after it.
std::string dispatch(const Command& command) {
  std::string out = "  case $state in\n    command)\n      local -a commands=(\n";
  std::string cases;
  for (const Command& below : command.commands) {
    const std::string word = below.name.substr(command.name.size() + 1);
    out += fmt::format("        {}\n", inQuotes(word + ":" + described(below.summary)));
    cases += fmt::format("        {}) {} ;;\n", word, functionName(below.name));
  }
  out += "      )\n      _describe -t commands command commands\n      ;;\n";
  return out + "    argument)\n      case $words[1] in\n" + cases + "      esac\n      ;;\n  esac\n";
}

std::string functionOf(const Command& command) {
  const bool has_commands = !command.commands.empty();
  std::string out = functionName(command.name) + "() {\n";
  if (has_commands) out += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  out += has_commands ? "  _arguments -C -s -S" : "  _arguments -s -S";
  const auto add = [&out](const std::string& line) { out += " \\\n    " + line; };
  for (const Option& option : command.options) add(optionLine(option));
  for (const Option& argument : command.arguments) add(argumentLine(argument));
  if (command.runs_program) {
    add("'(-)1:program:_command_names -e'");
    add("'*::argument:_normal'");
  }
  if (has_commands) {
    add("': :->command'");
    add("'*:: :->argument'");
  }
  out += "\n";
  if (has_commands) out += dispatch(command);
  return out + "}\n\n";
}

}  // namespace

std::string zshCompletion(const Command& root) {
  std::string out = fmt::format(
      "#compdef {}\n# Completion of zsh for {}. Generated from the declarations of its options.\n\n",
      root.name, root.name);
  for (const Command* command : withCommandsBelow(root)) out += functionOf(*command);
  return out + fmt::format("if [[ $funcstack[1] == {0} ]]; then\n  {0} \"$@\"\nelse\n  compdef {0} {1}\nfi\n",
                           functionName(root.name), root.name);
}

}  // namespace pitwall::manual
