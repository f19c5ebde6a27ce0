// Text from traces is shown on terminals and put into JSON: make it harmless first.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::emit {

// Every byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string repairedUtf8(std::string_view text);

// For a terminal: repaired, and control characters, also those that turn text around, become blanks, so that
// a name cannot move the cursor or change its surroundings.
std::string printable(std::string_view text);

// Columns that a terminal gives it; good enough for our tables.
std::size_t columnsOf(std::string_view text);

// The text if it fits into the columns; else as much of its beginning as leaves one column for `ending`. Takes time
// linear in what it returns.
std::string shortened(std::string_view text, std::size_t columns, std::string_view ending = "\xE2\x80\xA6");

}  // namespace pitwall::emit
