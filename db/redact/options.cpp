#include "db/redact/options.h"

#include <algorithm>

#include "db/redact/patterns.h"
#include "db/redact/text.h"

namespace pitwall::redact {
namespace {

bool isNumber(std::string_view text) { return std::ranges::all_of(text, isDigit); }

// Where the secret of USER:SECRET begins; the end when it is none, as in the ids of users and groups, 1000:1000.
std::size_t afterUser(std::string_view value) {
  const std::size_t colon = value.find(':');
  if (colon == value.npos || colon == 0 || value.substr(colon).starts_with("://")) return value.size();
  if (isNumber(value.substr(0, colon)) && isNumber(value.substr(colon + 1))) return value.size();
  return colon + 1;
}

// A password rather than a word, a number, a path or NAME=VALUE.
bool looksSecret(std::string_view value) {
  if (value.size() < 6 || value.find_first_of("/=:~") != value.npos) return false;
  const bool letter = std::ranges::any_of(value, isLetter), digit = std::ranges::any_of(value, isDigit);
  return letter && (digit || std::ranges::any_of(value, isUpper));
}

std::string_view baseName(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  return slash == word.npos ? word : word.substr(slash + 1);
}

// "mysql -p" is the program mysql and its option -p.
bool isProgram(const SecretPattern& pattern, std::string_view word) {
  return pattern.kind == SecretKind::programOption &&
         pattern.text.substr(0, pattern.text.find(' ')) == baseName(word);
}
std::string_view optionOf(const SecretPattern& pattern) {
  return pattern.text.substr(pattern.text.find(' ') + 1);
}

}  // namespace

std::size_t OptionReader::secretIn(std::string_view word) {
  const bool is_option = word.size() > 1 && word.front() == '-';
  const bool is_user = value_is_user_ && !is_option, is_secret = value_is_secret_ && !is_option;
  value_is_user_ = value_is_secret_ = false;
  for (const SecretPattern& pattern : secretPatterns()) {
    if (isProgram(pattern, word)) program_ = pattern.text.substr(0, pattern.text.find(' '));
  }
  if (is_secret) return 0;
  if (is_user) return afterUser(word);
  for (const SecretPattern& pattern : secretPatterns()) {
    const bool of_program = pattern.kind == SecretKind::programOption && isProgram(pattern, program_);
    const std::string_view option = of_program ? optionOf(pattern) : pattern.text;
    const bool of_user = pattern.kind == SecretKind::userOption;
    if (!of_program && !of_user && pattern.kind != SecretKind::shortOption) continue;
    if (!is_option || !word.starts_with(option)) continue;
    std::string_view value = word.substr(option.size());
    if (value.empty()) {
      value_is_user_ = of_user;
      value_is_secret_ = of_program;
      return word.size();
    }
    const bool is_long = option.starts_with("--");
    if (is_long && value.front() != '=') continue;
    if (is_long) value.remove_prefix(1);
    if (of_user) return word.size() - value.size() + afterUser(value);
    if (of_program || looksSecret(value)) return option.size();
  }
  return word.size();
}

}  // namespace pitwall::redact
