// Formats at the end of a buffer.
#pragma once

#include <fmt/format.h>

namespace pitwall::exporting {

// {fmt}'s own functions for this are templates that take seconds to compile in each file that uses them; here they are
// compiled once.
void appendFormatted(fmt::memory_buffer& out, fmt::string_view format, fmt::format_args arguments);

template <class... Arguments>
void appendText(fmt::memory_buffer& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  appendFormatted(out, format, fmt::make_format_args(arguments...));
}

}  // namespace pitwall::exporting
