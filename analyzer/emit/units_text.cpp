#include "analyzer/units_text.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

namespace pitwall {
namespace {

std::string threeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string showDuration(double ns) {
  const double size = std::fabs(ns);
  if (size == 0) return "0";
  if (size < 999.5) return fmt::format("{:.0f} ns", ns);
  if (size < 999.5e3) return threeDigits(ns / 1e3) + " us";
  if (size < 999.5e6) return threeDigits(ns / 1e6) + " ms";
  return threeDigits(ns / 1e9) + " s";
}

std::string showBytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (std::fabs(bytes) >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string showShare(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  if (std::fabs(percent) >= 99.95) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.1f} %", percent);
}

std::string showCount(std::int64_t count) {
  return std::llabs(count) < 100 ? fmt::format("{}", count) : showRate(static_cast<double>(count));
}

std::string showRate(double per_second) {
  const double size = std::fabs(per_second);
  if (size < 100) return threeDigits(per_second);
  std::string digits = fmt::format("{:.0f}", size);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  return (per_second < 0 ? "-" : "") + digits;
}

std::string showReal(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string showScaled(double value, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (std::fabs(value) >= 999.5 && prefix < 5) value /= 1000, ++prefix;
  return fmt::format("{} {}{}", threeDigits(value), prefixes[prefix], unit);
}

}  // namespace pitwall
