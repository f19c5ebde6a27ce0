// Output of the command. fmt::print throws when a disk is full or a stream closed; here the former is
// reported once, at the end, by flushOutput() of analyzer/cli/commands.h; failures to print notes are
// ignored.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <utility>

namespace pitwall::cli {

template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// To standard error.
template <class... Values>
void printNote(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace pitwall::cli
