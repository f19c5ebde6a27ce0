// The position of an event in its file, for messages.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "db/import/input/text.h"
#include "db/import/input/window.h"

namespace pitwall::import {

// The text is made only when it is needed.
struct Place {
  const Window& window;
  std::size_t ahead;
  std::string_view raw;
  std::string text() const { return fmt::format("{}: {}", window.place(ahead), quotedText(raw, 160)); }
  std::string operator()() const { return text(); }
};

}  // namespace pitwall::import
