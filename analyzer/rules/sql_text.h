// Checks SQL expressions before SQLite runs them: those of a rule may only read.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace pitwall::rules {

// In upper case, behind blanks and comments.
inline std::string firstWord(std::string_view sql) {
  std::size_t at = 0;
  const auto isBlank = [&] { return std::isspace(static_cast<unsigned char>(sql[at])) != 0; };
  for (; at < sql.size() && (isBlank() || sql.substr(at, 2) == "--"); ++at) {
    if (!isBlank()) at = std::min(sql.find('\n', at), sql.size() - 1);
  }
  std::string word;
  for (; at < sql.size() && std::isalpha(static_cast<unsigned char>(sql[at])); ++at)
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(sql[at])));
  return word;
}

// A ';' ends a statement and would let another follow, which could change the tables that all rules share.
inline bool hasSecondStatement(std::string_view sql) {
  char quote = 0;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (quote != 0) {
      if (sql[at] == quote) quote = 0;
    } else if (sql[at] == '\'' || sql[at] == '"') {
      quote = sql[at];
    } else if (sql.substr(at, 2) == "--") {
      at = std::min(sql.find('\n', at), sql.size() - 1);
    } else if (sql[at] == ';') {
      return true;
    }
  }
  return false;
}

// Whether a parameter occurs, and not only a longer name that begins with it.
inline bool mentions(const std::string& sql, const std::string& parameter) {
  for (auto at = sql.find(parameter); at != std::string::npos; at = sql.find(parameter, at + 1)) {
    const auto after = at + parameter.size();
    const bool longer =
        after < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[after])) || sql[after] == '_');
    if (!longer) return true;
  }
  return false;
}

}  // namespace pitwall::rules
