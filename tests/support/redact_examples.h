// The examples of the patterns of secrets, with a secret in them.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "db/redact/patterns.h"

namespace pitwall::test {

inline constexpr std::string_view kExampleSecret = "Xq7Zk2Lw8Vb4Rn5TxQ3mYp9sDf6GhJ1K";

inline std::string exampleOf(const SecretPattern& pattern) {
  std::string text(pattern.example);
  return text.replace(text.find('%'), 1, kExampleSecret);
}

inline std::vector<std::string> splitAtBlanks(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace pitwall::test
