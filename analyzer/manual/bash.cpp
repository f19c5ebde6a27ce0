// Completion of bash. Without the package bash-completion, so that it also works where only bash is.
#include <fmt/core.h>

#include "analyzer/manual/shell_words.h"

namespace pitwall::manual {
namespace {

// What the words before the cursor say: `command`, and where a program begins. @name@ is the function's, @root@ the command's.
constexpr char kBegin[] = R"(# Completion of bash for @root@. Generated from the declarations of its options.
@name@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local command='@root@' word words='' kind='' i
  COMPREPLY=()
  # --option=value is three words here.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
)";

constexpr char kProgram[] = R"(    if [[ $word == -- && $command == @command@ ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((i + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      fi
      return
    fi
)";

constexpr char kEnd[] = R"(  if [[ $kind == folder ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
  elif [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
# Where the function offers nothing, bash completes names of files.
complete -o bashdefault -o default -F @name@ @root@
)";

// "'pitwall analyze -o' | 'pitwall analyze --output'".
std::string patternOf(const Command& command, const Option& option) {
  std::string pattern;
  for (const std::string& name : option.names)
    pattern += (pattern.empty() ? "" : " | ") + inQuotes(command.name + " " + name);
  return pattern;
}

std::string valueCases(const std::vector<const Command*>& commands) {
  std::string out;
  for (const Command* command : commands) {
    for (const Option& option : command->options) {
      if (option.value.placeholder.empty()) continue;
      const auto& words = offered(option.value);
      const char* kind = option.value.kind == Value::Kind::folder ? "folder" : "value";
      out += fmt::format("    {}) kind={}", patternOf(*command, option), kind);
      out += words.empty() ? " ;;\n" : fmt::format(" words={} ;;\n", inQuotes(joined(words, " ")));
    }
  }
  return out;
}

std::string optionCases(const std::vector<const Command*>& commands) {
  std::string out;
  for (const Command* command : commands) {
    std::vector<std::string> names;
    for (const Option& option : command->options)
      names.insert(names.end(), option.names.begin(), option.names.end());
    out += fmt::format("      {}) words={} ;;\n", inQuotes(command->name), inQuotes(joined(names, " ")));
  }
  return out;
}

std::string argumentCases(const std::vector<const Command*>& commands) {
  std::string out;
  for (const Command* command : commands) {
    std::vector<std::string> words;
    for (const Command& below : command->commands)
      words.push_back(below.name.substr(command->name.size() + 1));
    for (const Option& argument : command->arguments)
      words.insert(words.end(), offered(argument.value).begin(), offered(argument.value).end());
    if (!words.empty())
      out += fmt::format("      {}) words={} ;;\n", inQuotes(command->name), inQuotes(joined(words, " ")));
  }
  return out;
}

}  // namespace

std::string bashCompletion(const Command& root) {
  const auto commands = withCommandsBelow(root);
  std::string out = kBegin;
  std::vector<std::string> below;
  for (const Command* command : commands) {
    if (command->runs_program) out += replaced(kProgram, "@command@", inQuotes(command->name));
    if (command != &root) below.push_back(inQuotes(command->name));
  }
  if (!below.empty())
    out += fmt::format("    case \"$command $word\" in\n      {}) command=\"$command $word\" ;;\n    esac\n",
                       joined(below, " | "));
  out += "  done\n";
  out += "  case \"$command $previous\" in\n" + valueCases(commands) + "  esac\n";
  out += "  if [[ -n $kind ]]; then\n    :\n  elif [[ $current == -* ]]; then\n    case \"$command\" in\n";
  out += optionCases(commands) + "    esac\n";
  if (const std::string cases = argumentCases(commands); !cases.empty())
    out += "  else\n    case \"$command\" in\n" + cases + "    esac\n";
  out += "  fi\n";
  out += kEnd;
  return replaced(replaced(out, "@name@", functionName(root.name)), "@root@", root.name);
}

}  // namespace pitwall::manual
