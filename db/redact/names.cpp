#include <algorithm>
#include <string>

#include "db/redact.h"
#include "db/redact/patterns.h"
#include "db/redact/text.h"

namespace pitwall {
namespace {

using redact::isLower;
using redact::isUpper;
using redact::isWordChar;

// Whole names that contain a secret word and are not secret; only in this case of letters.
constexpr std::string_view kHarmlessNames[] = {"PWD", "OLDPWD", "SSH_AUTH_SOCK"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool isSecretWord(std::string_view word) {
  const std::string low = lower(word);
  return std::ranges::any_of(secretPatterns(), [&low](const SecretPattern& pattern) {
    return (pattern.kind == SecretKind::word && low == pattern.text) ||
           (pattern.kind == SecretKind::ending && low.ends_with(pattern.text));
  });
}

// The end of the word that begins at `from`: at a change from lower to upper case, or at a character that is
// not a letter or digit. "APIKey" stays one word, and its ending decides.
std::size_t wordEnd(std::string_view name, std::size_t from) {
  std::size_t end = from + 1;
  while (end < name.size() && isWordChar(name[end]) && !(isUpper(name[end]) && isLower(name[end - 1]))) ++end;
  return end;
}

bool endsWithSecretWord(std::string_view name) {
  if (std::ranges::any_of(name, isLower)) return false;
  const std::size_t line = name.rfind('_');
  if (line == name.npos || line == 0) return false;
  const std::string last = lower(name.substr(line + 1));
  return std::ranges::any_of(secretPatterns(), [&last](const SecretPattern& pattern) {
    return pattern.kind == SecretKind::lastWord && last == pattern.text;
  });
}

}  // namespace

bool isSecretName(std::string_view name) {
  while (!name.empty() && !isWordChar(name.front())) name.remove_prefix(1);
  if (std::ranges::find(kHarmlessNames, name) != std::end(kHarmlessNames)) return false;
  for (std::size_t at = 0; at < name.size();) {
    if (!isWordChar(name[at])) {
      ++at;
      continue;
    }
    const std::size_t end = wordEnd(name, at);
    if (isSecretWord(name.substr(at, end - at))) return true;
    at = end;
  }
  return endsWithSecretWord(name);
}

}  // namespace pitwall
