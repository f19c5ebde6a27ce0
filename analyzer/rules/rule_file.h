// Reads one rule from TOML.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/rules/rule.h"
#include "db/result.h"

namespace pitwall::rules {

// `name` is the file's name for messages. Errors: invalidInput, naming file and line, what is wrong and what
// is expected there.
Result<Rule> parseRule(std::string_view toml, const std::string& name);

}  // namespace pitwall::rules
