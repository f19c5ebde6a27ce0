// Reads a text line by line.
#pragma once

#include <cstring>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/input/window.h"
#include "db/try.h"

namespace pitwall::import {

// `visit(line)` gets each line without its line feed; window.place() is the line's position. A line longer
// than `longest` is truncated there. Errors: as Window::more.
template <class Visit>
Status eachLine(Window& window, std::size_t longest, const Visit& visit) {
  bool inside = false;  // in the rest of a truncated line
  for (;;) {
    const std::string_view view = window.view();
    const void* newline = view.empty() ? nullptr : std::memchr(view.data(), '\n', view.size());
    if (newline != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - view.data());
      if (!inside) visit(view.substr(0, length < longest ? length : longest));
      inside = false;
      window.take(length + 1);
    } else if (window.atEnd()) {
      if (!view.empty() && !inside) visit(view.substr(0, longest));
      window.take(view.size());
      return {};
    } else if (view.size() > longest) {
      if (!inside) visit(view.substr(0, longest));
      inside = true;
      window.take(view.size());
    } else {
      PITWALL_TRY(window.more(longest * 64));
    }
  }
}

// A reader with line() and end() gets all lines of an input, and the input's damage is recorded. Errors: as eachLine.
template <class Reader>
Status readLines(Reader& reader, Window& window, const ImportOptions& options, Builder& builder) {
  PITWALL_TRY(eachLine(window, static_cast<std::size_t>(options.limits.line_bytes),
                       [&](std::string_view line) { reader.line(line); }));
  reader.end();
  if (!window.source().damage().empty()) builder.tally().damaged(window.source().damage());
  return {};
}

}  // namespace pitwall::import
