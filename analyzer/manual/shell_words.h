// What the completions of all shells need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/manual.h"

namespace pitwall::manual {

// 'text' in single quotes. `inner_quote` is how a quote within is written: "'\\''" in bash and zsh, "\\'" in fish.
std::string inQuotes(std::string_view text, std::string_view inner_quote = "'\\''");

std::string joined(const std::vector<std::string>& words, std::string_view between);

// Each `from` in the text becomes `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);

// The values to offer: the choices, else the known names.
const std::vector<std::string>& offered(const Value& value);

// The command and all below it, each before those below it.
std::vector<const Command*> withCommandsBelow(const Command& root);

// A name that shells take for a function: "_pitwall_rules_list".
std::string functionName(std::string_view command);

}  // namespace pitwall::manual
