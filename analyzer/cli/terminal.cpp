#include "analyzer/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace pitwall::cli {

namespace {
constexpr std::size_t kUsual = 80;
}

bool outputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool colorWanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  return outputIsTerminal() && (term == nullptr || std::string_view(term) != "dumb");
}

std::size_t terminalWidth() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text = columns;
    std::size_t width = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && stop == text.data() + text.size() && width > 0 && width < 10'000)
      return width;
  }
  struct winsize size {};
  if (outputIsTerminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return kUsual;
}

int listWidth() {
  constexpr std::size_t kWide = 140;
  return static_cast<int>(outputIsTerminal() ? std::clamp<std::size_t>(terminalWidth(), 40, kWide) : kWide);
}

}  // namespace pitwall::cli
