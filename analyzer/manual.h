// What a command's help says, as data: man pages and completions of shells are made from it while building.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::manual {

// An exit code, a file, a variable or an example with its meaning.
struct Entry {
  std::string name, meaning;
};

// Entries under a title that only one command has.
struct List {
  std::string title;
  std::vector<Entry> entries;
};

// What a command's documentation says besides its arguments.
struct Text {
  std::vector<std::string> usage;  // empty: made from the arguments
  std::vector<std::string> notes;  // paragraphs
  std::vector<List> lists;
  std::vector<Entry> exit_codes, environment, files, examples;
};

// What stands after an option, or a positional argument.
struct Value {
  enum class Kind { text, file, folder };
  std::string placeholder;  // "FILE"; empty: an option without a value
  Kind kind = Kind::text;
  std::vector<std::string> choices;  // the only values that are allowed; empty: any
  std::vector<std::string> known;    // names worth offering
  std::string default_value;         // empty: none
  bool required = false;
  bool repeated = false;
};

struct Option {
  std::vector<std::string> names;  // as they are written: "-o", "--output"; empty: a positional argument
  Value value;
  std::string meaning;
};

struct Command {
  std::string name;  // as it is called: "pitwall rules list"
  std::string summary;
  Text text;
  std::vector<Option> options;
  std::vector<Option> arguments;
  std::vector<Command> commands;
  bool own_pages = false;     // each of `commands` has its page
  bool runs_program = false;  // after "--" follows a program with its arguments
};

// "pitwall-record" for "pitwall record".
std::string pageName(const Command& command);

// A page of section 1 for man(1). `see_also` are the names of other pages.
std::string manPage(const Command& command, std::string_view version,
                    const std::vector<std::string>& see_also);

std::string bashCompletion(const Command& root);
std::string zshCompletion(const Command& root);
std::string fishCompletion(const Command& root);

// Writes man1/*.1, bash/NAME, zsh/_NAME and fish/NAME.fish into the folder, which is made anew. Errors: io.
Status writeManual(const Command& root, std::string_view version, const std::vector<std::string>& see_also,
                   const std::string& folder);

}  // namespace pitwall::manual
