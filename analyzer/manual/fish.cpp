// Completion of fish, from version 3.0 on.
#include <fmt/core.h>

#include "analyzer/manual/shell_words.h"

namespace pitwall::manual {
namespace {

std::string fishQuoted(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return inQuotes(out, "\\'");
}

// A function that prints the command before the cursor, with the commands below it: "pitwall rules list".
std::string commandFunction(const Command& root, const std::vector<const Command*>& commands) {
  std::string known;
  for (const Command* command : commands)
    if (command != &root) known += " " + fishQuoted(command->name);
  std::string out = fmt::format(
      "function _{0}_command\n    set -l words (commandline -opc)\n    set -l command {1}\n"
      "    for word in $words[2..-1]\n",
      functionName(root.name), fishQuoted(root.name));
  out +=
      "        if test \"$word\" = --\n            set command \"$command --\"\n            break\n        "
      "end\n";
  if (!known.empty())
    out += fmt::format(
        "        if contains -- \"$command $word\"{}\n            set command \"$command $word\"\n        "
        "end\n",
        known);
  return out + "    end\n    echo $command\nend\n";
}

constexpr char kProgram[] = R"(
# Completes the program after "--" as if it stood alone.
function _@name@_program
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    or return
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end
)";

std::string valueOf(const Value& value) {
  if (value.placeholder.empty()) return "";
  if (const auto& words = offered(value); !words.empty()) return " -x -a " + fishQuoted(joined(words, " "));
  if (value.kind == Value::Kind::file) return " -r -F";
  if (value.kind == Value::Kind::folder) return " -x -a '(__fish_complete_directories)'";
  return " -x";
}

std::string linesOf(const Command& command, const std::string& at) {
  std::string out;
  for (const Command& below : command.commands)
    out += fmt::format("{} -a {} -d {}\n", at, below.name.substr(command.name.size() + 1),
                       fishQuoted(below.summary));
  for (const Option& option : command.options) {
    out += at;
    for (const std::string& name : option.names)
      out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    out += fmt::format("{} -d {}\n", valueOf(option.value), fishQuoted(option.meaning));
  }
  for (const Option& argument : command.arguments) {
    if (const auto& words = offered(argument.value); !words.empty())
      out += fmt::format("{} -a {}\n", at, fishQuoted(joined(words, " ")));
    if (argument.value.kind == Value::Kind::file) out += at + " -F\n";
  }
  return out;
}

}  // namespace

std::string fishCompletion(const Command& root) {
  const auto commands = withCommandsBelow(root);
  const std::string name = functionName(root.name);
  std::string out = fmt::format(
      "# Completion of fish for {}. Generated from the declarations of its options.\n", root.name);
  out += commandFunction(root, commands);
  out += fmt::format("\ncomplete -c {} -f\n", root.name);
  for (const Command* command : commands) {
    const auto at = [&](const std::string& where) {
      return fmt::format("complete -c {} -n {}", root.name,
                         fishQuoted(fmt::format("test (_{}_command) = \"{}\"", name, where)));
    };
    if (command->runs_program) {
      out += replaced(kProgram, "@name@", name);
      out += fmt::format("{} -x -a '(_{}_program)'\n", at(command->name + " --"), name);
    }
    out += linesOf(*command, at(command->name));
  }
  return out;
}

}  // namespace pitwall::manual
