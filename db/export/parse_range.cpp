// "1.5s..2s" as a range of time.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "db/export.h"

namespace pitwall {
namespace {

// "1.5s", "20ms", "3us", "7ns" or "7": nanoseconds.
std::optional<TimeNs> timeOf(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const double scale = unit == "s"                    ? 1e9
                       : unit == "ms"                 ? 1e6
                       : unit == "us"                 ? 1e3
                       : unit == "ns" || unit.empty() ? 1
                                                      : 0;
  const double ns = number * scale;
  if (scale == 0 || !(std::fabs(ns) < 9e18)) return std::nullopt;
  return static_cast<TimeNs>(std::llround(ns));
}

}  // namespace

Result<ExportRange> parseExportRange(const std::string& text) {
  const auto dots = text.find("..");
  const auto wrong = [&] {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("--range {}: write BEGIN..END since the trace's start, as 1.5s..2s or 20ms..", text));
  };
  if (dots == std::string::npos) return wrong();
  ExportRange range{std::numeric_limits<TimeNs>::min(), std::numeric_limits<TimeNs>::max()};
  const std::string_view begin = std::string_view(text).substr(0, dots);
  const std::string_view end = std::string_view(text).substr(dots + 2);
  if (begin.empty() && end.empty()) return wrong();
  if (!begin.empty()) {
    const auto time = timeOf(begin);
    if (!time) return wrong();
    range.begin_ns = *time;
  }
  if (!end.empty()) {
    const auto time = timeOf(end);
    if (!time) return wrong();
    range.end_ns = *time;
  }
  return range;
}

}  // namespace pitwall
