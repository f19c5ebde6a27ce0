// Text of others in messages.
#pragma once

#include <string>
#include <string_view>

namespace pitwall {

// Control characters, and bytes that are not UTF-8, as escapes of C (\n, \x1b): a name of a file cannot end a line or move the
// cursor of a terminal.
std::string escaped(std::string_view text);

}  // namespace pitwall
