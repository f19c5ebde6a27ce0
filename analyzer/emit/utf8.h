// Text from traces is shown on terminals and put into JSON: make it harmless first.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::emit {

// Every byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string repairedUtf8(std::string_view text);

// For a terminal: repaired, and control characters become blanks, so that a name cannot move the cursor.
std::string printable(std::string_view text);

// Code points; good enough for the columns of our tables.
std::size_t columnsOf(std::string_view text);

}  // namespace pitwall::emit
