#include "db/unified_memory.h"

#include <array>
#include <cstddef>

namespace pitwall {

namespace {

constexpr std::int64_t kRequested = 1;  // CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER

template <std::size_t N>
std::string_view nameIn(const std::array<std::string_view, N>& names, std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(N) ? names[static_cast<std::size_t>(number)] : "";
}

}  // namespace

std::string migrationName(std::string copy, std::int64_t cause) {
  if (cause == kRequested) copy += ", requested";
  return copy;
}

std::string migrationArguments(std::int64_t cause) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "", "request", "page fault", "driver prefetch", "eviction", "access counters"};
  const std::string_view name = nameIn(kNames, cause);
  if (name.empty()) return "";
  return R"({"cause":")" + std::string(name) + R"("})";
}

std::string pageFaultName(std::string_view processor, std::int64_t access) {
  static constexpr std::array<std::string_view, 5> kNames = {"", "read", "write", "atomic", "prefetch"};
  const std::string_view name = nameIn(kNames, access);
  std::string text = std::string(processor) + " page fault";
  if (!name.empty()) text += " (" + std::string(name) + ")";
  return text;
}

}  // namespace pitwall
