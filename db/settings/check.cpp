// Checks whether a setting allows a value, with a message when it does not.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "db/settings.h"
#include "db/settings/parse.h"
namespace pitwall {

namespace {

using settings::parseBoolean;
using settings::parseInteger;
using settings::parseReal;

// The ends of "1..64"; an end left out is empty.
struct Range {
  std::string_view low, high;
};

Range rangeOf(std::string_view allowed) {
  const auto dots = allowed.find("..");
  if (dots == std::string_view::npos) return {};
  return {allowed.substr(0, dots), allowed.substr(dots + 2)};
}

template <class T, class Parse>
bool inRange(T value, std::string_view allowed, Parse parse) {
  const Range range = rangeOf(allowed);
  if (const auto low = parse(range.low); low.has_value() && value < *low) return false;
  if (const auto high = parse(range.high); high.has_value() && value > *high) return false;
  return true;
}

std::vector<std::string_view> choicesOf(std::string_view allowed) {
  std::vector<std::string_view> choices;
  while (!allowed.empty()) {
    const auto bar = std::min(allowed.find('|'), allowed.size());
    choices.push_back(allowed.substr(0, bar));
    allowed.remove_prefix(std::min(bar + 1, allowed.size()));
  }
  return choices;
}

std::string withRange(std::string kind, std::string_view allowed) {
  const Range range = rangeOf(allowed);
  if (!range.low.empty() && !range.high.empty())
    return kind + " from " + std::string(range.low) + " to " + std::string(range.high);
  if (!range.low.empty()) return kind + ", " + std::string(range.low) + " or more";
  if (!range.high.empty()) return kind + ", " + std::string(range.high) + " or less";
  return kind;
}

bool valid(const SettingInfo& info, std::string_view text) {
  switch (info.type) {
    case SettingType::boolean: return parseBoolean(text).has_value();
    case SettingType::integer: {
      const auto value = parseInteger(text);
      return value.has_value() && inRange(*value, info.allowed, parseInteger);
    }
    case SettingType::real: {
      const auto value = parseReal(text);
      return value.has_value() && *value - *value == 0 && inRange(*value, info.allowed, parseReal);
    }
    case SettingType::choice: return std::ranges::count(choicesOf(info.allowed), text) > 0;
    case SettingType::text: return true;
  }
  return false;
}

}  // namespace

std::string allowedText(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::boolean: return "true, false, 1 or 0";
    case SettingType::integer: return withRange("an integer", info.allowed);
    case SettingType::real: return withRange("a number", info.allowed);
    case SettingType::choice: {
      std::string list = "one of";
      for (const auto choice : choicesOf(info.allowed))
        list.append(list.size() > 6 ? ", " : " ").append(choice);
      return list;
    }
    case SettingType::text: return info.allowed.empty() ? "any text" : std::string(info.allowed);
  }
  return {};
}

Status checkSettingValue(const SettingInfo& info, std::string_view text) {
  if (text.empty() || valid(info, text)) return {};
  std::string message(info.name);
  message.append("=").append(text).append(": must be ").append(allowedText(info));
  message.append(info.default_value.empty() ? "; unset it to leave it to the program"
                                            : "; unset it for the default, ");
  message.append(info.default_value);
  return fail(ErrorCode::invalidInput, std::move(message));
}

bool versionReads(const SettingInfo& info, std::string_view version) {
  if (!version.empty() && version.front() == 'v') version.remove_prefix(1);
  std::string_view needed = info.min_version;
  // Number by number; a missing one is 0.
  const auto take = [](std::string_view& text) {
    int number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(text.front() == '.' ? 1 : text.size());
    return number;
  };
  if (version.empty() || version.front() < '0' || version.front() > '9') return true;
  while (!needed.empty()) {
    const int wanted = take(needed), is = take(version);
    if (wanted != is) return is > wanted;
  }
  return true;
}

}  // namespace pitwall
