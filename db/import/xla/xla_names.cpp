#include "db/import/xla/xla_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "db/import/input/text.h"
#include "db/import/kineto/arguments.h"
#include "db/import/kineto/meanings.h"

namespace pitwall::import {
namespace {

// The value of `key` in "key:value key:value"; empty when it is missing.
std::string_view detail(std::string_view details, std::string_view key) {
  for (std::size_t at = 0; at < details.size();) {
    const std::size_t end = std::min(details.find(' ', at), details.size());
    const std::string_view word = details.substr(at, end - at);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == ':')
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

std::int64_t size(std::string_view text) {
  const auto number = parseInteger(text);
  return number && *number > 0 && *number < kLatestNs ? *number : 0;
}

std::string capital(std::string_view word) {
  std::string out(word.substr(0, 64));
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

bool isHost(std::string_view memory) {
  return memory.starts_with("pageable") || memory.starts_with("pinned") || memory.starts_with("host");
}

}  // namespace

std::optional<XlaDevice> xlaDevice(std::string_view plane) {
  constexpr std::string_view kStart = "/device:";
  const std::size_t start = plane.find(kStart);
  if (start == std::string_view::npos || (start != 0 && plane[start - 1] != ' ')) return std::nullopt;
  std::string_view rest = plane.substr(start + kStart.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 16) return std::nullopt;
  XlaDevice device;
  for (const char c : rest.substr(0, colon))
    device.kind += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  rest.remove_prefix(colon + 1);
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto index = parseInteger(rest.substr(0, digits));
  if (!index || *index < 0 || *index > 65535) return std::nullopt;
  device.index = static_cast<int>(*index);
  rest.remove_prefix(digits);
  rest.remove_prefix(std::min(rest.find_first_not_of(" ("), rest.size()));
  if (rest.ends_with(')')) rest.remove_suffix(1);
  device.name = std::string(rest);
  return device;
}

XlaLine xlaLine(std::string_view name) {
  if (name.starts_with("Stream")) return XlaLine::stream;
  if (name == "XLA Ops") return XlaLine::ops;
  return name == "Steps" ? XlaLine::steps : XlaLine::derived;
}

std::string_view xlaStream(std::string_view line) {
  constexpr std::string_view kStart = "Stream #";
  if (!line.starts_with(kStart)) return line;
  const std::string_view rest = line.substr(kStart.size());
  return rest.substr(0, rest.find('('));
}

KernelFacts xlaKernel(std::string_view details) {
  KernelFacts facts;
  facts.grid = extents(detail(details, "grid"));
  facts.block = extents(detail(details, "block"));
  facts.registers_per_thread =
      static_cast<std::int32_t>(std::min<Bytes>(size(detail(details, "regs")), 65536));
  facts.static_shared_bytes = size(detail(details, "static_shared"));
  facts.dynamic_shared_bytes = size(detail(details, "dynamic_shared"));
  if (facts.static_shared_bytes == 0) facts.static_shared_bytes = size(detail(details, "group_mem"));
  facts.local_bytes = size(detail(details, "private_mem"));
  const auto percent = parseReal(detail(details, "occ_pct"));
  if (percent && *percent > 0 && *percent <= 100) facts.theoretical_occupancy = *percent / 100;
  return facts;
}

std::optional<XlaCopy> xlaCopy(std::string_view event, std::string_view details) {
  const bool copies = event.starts_with("Memcpy");
  if (!copies && !event.starts_with("Memset")) return std::nullopt;
  XlaCopy copy;
  copy.bytes = size(detail(details, "size"));
  if (copy.bytes == 0) copy.bytes = size(detail(details, "num_bytes"));
  const std::string_view from = detail(details, "kind_src");
  const std::string_view to = detail(details, "kind_dst");
  if (!copies) {
    const std::string_view kind = detail(details, "kind");
    copy.name = fmt::format("Memset ({})", kind.empty() ? "Device" : capital(kind));
  } else if (from.empty() || to.empty()) {
    copy.name = std::string(event);
  } else {
    copy.name = fmt::format("Memcpy {}to{} ({} -> {})", isHost(from) ? 'H' : 'D', isHost(to) ? 'H' : 'D',
                            capital(from), capital(to));
  }
  return copy;
}

bool isXlaCollective(std::string_view name) {
  constexpr std::array<std::string_view, 6> kOperations = {"all-reduce",         "all-gather",
                                                           "reduce-scatter",     "all-to-all",
                                                           "collective-permute", "collective-broadcast"};
  return isCollective(name) || std::any_of(kOperations.begin(), kOperations.end(),
                                           [&](std::string_view op) { return name.starts_with(op); });
}

}  // namespace pitwall::import
