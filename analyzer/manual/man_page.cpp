// Pages for man(1), in the man macros of groff and mandoc.
#include <fmt/core.h>

#include <cstdint>

#include "analyzer/manual.h"

namespace pitwall::manual {
namespace {

// The code point that begins at text[at]; moves `at` behind it. The text is UTF-8 of our own sources.
std::uint32_t codePoint(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const std::uint32_t first = byte(at++);
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  std::uint32_t code = more == 0 ? first : first & (0x3FU >> more);
  for (int i = 0; i < more; ++i) code = code << 6U | (byte(at++) & 0x3FU);
  return code;
}

// Text that groff prints as it is, also at the beginning of a line and within a quoted argument.
std::string escaped(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t c = codePoint(text, i);
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '"': out += "\\(dq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c < 0x80 ? std::string(1, static_cast<char>(c)) : fmt::format("\\[u{:04X}]", c);
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string valueText(const Value& value) {
  if (value.choices.empty()) return italic(value.placeholder);
  std::string out;
  for (const std::string& choice : value.choices) out += (out.empty() ? "" : "|") + bold(choice);
  return out;
}

// A tagged paragraph: the tag is roff already, the text is plain.
void addTagged(std::string& page, std::string_view tag, std::string_view text) {
  page += fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

void addOption(std::string& page, const Option& option) {
  std::string tag;
  for (const std::string& name : option.names) tag += (tag.empty() ? "" : ", ") + bold(name);
  if (!option.value.placeholder.empty())
    tag += (tag.empty() ? "" : " ") +
           (option.names.empty() ? italic(option.value.placeholder) : valueText(option.value));
  std::string text = option.meaning;
  if (!option.value.default_value.empty()) text += fmt::format(" (default: {})", option.value.default_value);
  addTagged(page, tag, text + (text.ends_with('.') ? "" : "."));
}

void addOptions(std::string& page, const Command& command) {
  for (const Option& argument : command.arguments) addOption(page, argument);
  for (const Option& option : command.options) addOption(page, option);
}

// "pitwall analyze [OPTIONS] TRACE".
std::string usageOf(const Command& command) {
  std::string line = bold(command.name) + " [" + italic("OPTIONS") + "]";
  for (const Option& argument : command.arguments) {
    const Value& value = argument.value;
    const std::string name = italic(value.placeholder) + (value.repeated ? " ..." : "");
    line += value.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  return line;
}

void addSynopsis(std::string& page, const Command& command) {
  page += ".SH SYNOPSIS\n";
  std::vector<std::string> lines;
  for (const std::string& usage : command.text.usage) lines.push_back(bold(usage));
  if (lines.empty() && (command.commands.empty() || command.own_pages)) lines.push_back(usageOf(command));
  if (!command.own_pages) {
    for (const Command& below : command.commands) lines.push_back(usageOf(below));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) page += (i == 0 ? "" : ".br\n") + lines[i] + "\n";
}

void addCommands(std::string& page, const Command& command) {
  if (command.commands.empty()) return;
  page += ".SH COMMANDS\n";
  for (const Command& below : command.commands) {
    if (command.own_pages) {
      addTagged(page, bold(pageName(below)) + "(1)", below.summary + ".");
      continue;
    }
    page += fmt::format(".SS \"{}\"\n{}.\n", escaped(below.name), escaped(below.summary));
    addOptions(page, below);
  }
}

void addEntries(std::string& page, std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  page += fmt::format(".SH \"{}\"\n", escaped(upper(title)));
  for (const Entry& entry : entries) addTagged(page, bold(entry.name), entry.meaning);
}

void addExamples(std::string& page, const std::vector<Entry>& examples) {
  if (examples.empty()) return;
  page += ".SH EXAMPLES\n";
  for (const Entry& example : examples) {
    page +=
        fmt::format(".PP\n{}\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", escaped(example.meaning), bold(example.name));
  }
}

}  // namespace

std::string pageName(const Command& command) {
  std::string name = command.name;
  for (char& c : name) c = c == ' ' ? '-' : c;
  return name;
}

std::string manPage(const Command& command, std::string_view version,
                    const std::vector<std::string>& see_also) {
  const std::string name = pageName(command);
  std::string page =
      fmt::format(".TH \"{}\" 1 \"\" \"Pitwall {}\" \"Pitwall\"\n", escaped(upper(name)), escaped(version));
  // Left-aligned and without hyphenation: names of options and files stay whole.
  page += ".nh\n.ad l\n";
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.summary));
  addSynopsis(page, command);
  page += fmt::format(".SH DESCRIPTION\n{}.\n", escaped(command.summary));
  for (const std::string& note : command.text.notes) page += ".PP\n" + escaped(note) + "\n";
  if (!command.options.empty() || !command.arguments.empty()) page += ".SH OPTIONS\n";
  addOptions(page, command);
  addCommands(page, command);
  for (const List& list : command.text.lists) addEntries(page, list.title, list.entries);
  addEntries(page, "exit status", command.text.exit_codes);
  addEntries(page, "environment", command.text.environment);
  addEntries(page, "files", command.text.files);
  addExamples(page, command.text.examples);
  std::string others;
  for (const std::string& other : see_also) {
    if (other != name) others += fmt::format("{}{}(1)", others.empty() ? "" : ",\n", bold(other));
  }
  if (!others.empty()) page += ".SH \"SEE ALSO\"\n" + others + "\n";
  return page;
}

}  // namespace pitwall::manual
