#include "db/import/perf/perf_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostWords = 64;
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kDigits = "0123456789";

bool isNumber(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of(kDigits) == std::string_view::npos;
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; out.size() < kMostWords;) {
    at = line.find_first_not_of(kBlanks, at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

// "7214.032587:"
std::optional<std::int64_t> timeOf(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  word.remove_suffix(1);
  const std::size_t point = word.find('.');
  if (point == word.npos || !isNumber(word.substr(0, point)) || !isNumber(word.substr(point + 1)))
    return std::nullopt;
  return parseScaled(word, 1'000'000'000);
}

// "4711/4712" or "4712"
bool ids(std::string_view word, PerfHead& out) {
  const std::size_t slash = word.find('/');
  const std::string_view tid = slash == word.npos ? word : word.substr(slash + 1);
  if (!isNumber(tid) || (slash != word.npos && !isNumber(word.substr(0, slash)))) return false;
  out.tid = *parseInteger(tid);
  if (slash != word.npos) out.pid = *parseInteger(word.substr(0, slash));
  return true;
}

// What stands before the time: command, ids, and perhaps the CPU and flags.
bool before(std::string_view line, std::span<const std::string_view> words, PerfHead& out) {
  for (std::size_t at = words.size(), tried = 0; at-- > 1 && tried < 3; ++tried) {
    const std::string_view word = words[at];
    if (word.starts_with('[') && word.ends_with(']') && isNumber(word.substr(1, word.size() - 2))) {
      out.cpu = word.substr(1, word.size() - 2);
    } else if (ids(word, out)) {
      const auto from = static_cast<std::size_t>(words.front().data() - line.data());
      const auto to = static_cast<std::size_t>(word.data() - line.data());
      out.command = line.substr(from, line.find_last_not_of(kBlanks, to - 1) + 1 - from);
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<PerfHead> perfHead(std::string_view line) {
  const auto all = words(line);
  for (std::size_t i = 2; i + 1 < all.size(); ++i) {
    const auto time = timeOf(all[i]);
    PerfHead out;
    if (!time || !before(line, std::span(all).first(i), out)) continue;
    out.time_ns = *time;
    std::size_t event = i + 1;
    if (isNumber(all[event]) && event + 1 < all.size()) out.period = *parseInteger(all[event++]);
    if (!all[event].ends_with(':')) continue;
    out.event = all[event].substr(0, all[event].size() - 1);
    const auto end = static_cast<std::size_t>(all[event].data() - line.data()) + all[event].size();
    const std::size_t rest = std::min(line.find_first_not_of(kBlanks, end), line.size());
    out.rest = line.substr(rest);
    return out;
  }
  return std::nullopt;
}

std::optional<PerfFunction> perfFunction(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::size_t blank = line.find(' ');
  const bool has_address =
      blank != line.npos && blank > 0 && blank <= 16 &&
      line.substr(0, blank).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!has_address) return std::nullopt;
  line.remove_prefix(blank + 1);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  PerfFunction out;
  out.text = line;
  out.symbol = line;
  if (const std::size_t object = line.rfind(" ("); object != line.npos && line.ends_with(')')) {
    out.object = line.substr(object + 2, line.size() - object - 3);
    out.symbol = line.substr(0, object);
  }
  if (const std::size_t offset = out.symbol.rfind("+0x"); offset != out.symbol.npos) {
    const bool is_offset =
        out.symbol.find_first_not_of("0123456789abcdef", offset + 3) == std::string_view::npos;
    if (is_offset) out.symbol = out.symbol.substr(0, offset);
  }
  if (out.symbol == "[unknown]") out.symbol = {};
  return out;
}

FrameInfo perfFrame(const PerfFunction& function) {
  constexpr std::string_view kPython = "py::";
  if (function.symbol.starts_with(kPython)) {
    const std::string_view name = function.symbol.substr(kPython.size());
    const std::size_t colon = name.find(':');
    return {std::string(name.substr(0, colon)),
            std::string(colon == name.npos ? std::string_view() : name.substr(colon + 1)), 0, "python"};
  }
  const std::string_view object = function.object;
  if (!function.symbol.empty()) return {std::string(function.symbol), std::string(object), 0, "native"};
  const std::string_view base = object.substr(object.rfind('/') == object.npos ? 0 : object.rfind('/') + 1);
  return {base.empty() || base.starts_with('[') ? "[unknown]" : fmt::format("[{}]", base),
          std::string(object), 0, "native"};
}

bool isCpuClock(std::string_view event) {
  const std::string_view name = event.substr(0, event.find(':'));
  return name == "cpu-clock" || name == "task-clock";
}

bool standsForTime(std::string_view event) {
  const std::size_t colon = event.find(':');
  // Modifiers follow a colon too; of a tracepoint its name does.
  const bool tracepoint =
      colon != event.npos && event.find_first_not_of("ukhGHpPSDIWeb", colon + 1) != event.npos;
  const auto has = [&](std::string_view what) { return event.find(what) != event.npos; };
  return !tracepoint && (has("clock") || has("cycles") || has("instructions"));
}

bool isPerfScript(std::string_view start) {
  for (std::size_t at = 0; at < start.size();) {
    const std::size_t end = std::min(start.find('\n', at), start.size());
    const std::string_view line = start.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.starts_with('#') || line.find_first_not_of(kBlanks) == line.npos) continue;
    const auto head = perfHead(line);
    if (!head) return false;
    if (!head->rest.empty()) return perfFunction(head->rest).has_value() || !standsForTime(head->event);
    const std::string_view next = start.substr(std::min(at, start.size()));
    return perfFunction(next.substr(0, next.find('\n'))).has_value();
  }
  return false;
}

}  // namespace pitwall::import
