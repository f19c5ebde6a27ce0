// Secrets in any surroundings: the first byte chooses a pattern, the others are the line before its example.
#include <string>
#include <string_view>
#include <vector>

#include "db/check.h"
#include "db/redact.h"
#include "db/redact/patterns.h"
#include "tests/fuzz/input_file.h"
#include "tests/support/redact_examples.h"

namespace pitwall::fuzz {

void redactSecrets(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const SecretPattern& pattern = secretPatterns()[input.front() % secretPatterns().size()];
  const std::string before(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  if (before.find(test::kExampleSecret) != before.npos) return;
  const std::string text = before + "\n" + test::exampleOf(pattern);
  const std::string shown = redactText(text);
  PITWALL_CHECK(shown.find(test::kExampleSecret) == shown.npos, "%s", shown.c_str());
  if (pattern.example.find(": ") != pattern.example.npos) return;  // text, not the arguments of a command
  const std::vector<std::string> words = test::splitAtBlanks(text);
  const std::vector<std::string> arguments = redactArguments(words);
  PITWALL_CHECK(arguments.size() == words.size(), "%zu arguments of %zu", arguments.size(), words.size());
  for (const std::string& argument : arguments)
    PITWALL_CHECK(argument.find(test::kExampleSecret) == argument.npos, "%s", argument.c_str());
}

}  // namespace pitwall::fuzz
