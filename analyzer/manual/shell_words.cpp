#include "analyzer/manual/shell_words.h"

namespace pitwall::manual {

std::string inQuotes(std::string_view text, std::string_view inner_quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += inner_quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

const std::vector<std::string>& offered(const Value& value) {
  return value.choices.empty() ? value.known : value.choices;
}

std::vector<const Command*> withCommandsBelow(const Command& root) {
  std::vector<const Command*> all{&root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Command& below : all[i]->commands) all.push_back(&below);
  }
  return all;
}

std::string functionName(std::string_view command) {
  std::string name = "_";
  for (const char c : command) name += c == ' ' || c == '-' ? '_' : c;
  return name;
}

}  // namespace pitwall::manual
