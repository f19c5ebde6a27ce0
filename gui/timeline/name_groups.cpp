#include "gui/timeline/name_groups.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "db/function_name.h"

namespace pitwall::gui {
namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// Arguments whose values number events.
constexpr std::array<std::string_view, 8> kNumbering = {"op_id",           "seq",   "seq_id",      "sequence",
                                                        "sequence_number", "seqid", "correlation", "id"};

std::size_t skipBlanks(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// Behind ", op_id = 512" at `at`; `at` when it is something else. The value is a number, or a list of numbers in brackets.
std::size_t behindNumbering(std::string_view text, std::size_t at) {
  if (text[at] != ',' && text[at] != ';') return at;
  std::size_t i = skipBlanks(text, at + 1);
  for (const std::string_view key : kNumbering) {
    if (text.substr(i, key.size()) != key) continue;
    std::size_t value = skipBlanks(text, i + key.size());
    if (value >= text.size() || (text[value] != '=' && text[value] != ':')) continue;
    value = skipBlanks(text, value + 1);
    std::size_t end = value;
    while (end < text.size() && (isDigit(text[end]) || text[end] == '-')) ++end;
    if (end > value) return end;
  }
  return at;
}

}  // namespace

std::string groupOfName(std::string_view name) {
  std::string group;
  group.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    if (const std::size_t behind = behindNumbering(name, i); behind > i) {
      i = behind;
    } else if (name[i] == '#' && i + 1 < name.size() && isDigit(name[i + 1])) {
      group += "#*";
      for (++i; i < name.size() && isDigit(name[i]);) ++i;
    } else if (name[i] == '0' && i + 4 < name.size() && (name[i + 1] == 'x' || name[i + 1] == 'X') &&
               isHex(name[i + 2])) {
      std::size_t end = i + 2;
      while (end < name.size() && isHex(name[end])) ++end;
      if (end - i < 6) {  // a short one is a constant
        group += name.substr(i, end - i);
      } else {
        group += '*';
      }
      i = end;
    } else {
      group += name[i++];
    }
  }
  return group;
}

NameGroups groupNames(const std::vector<std::string>& names) {
  NameGroups groups;
  std::unordered_map<std::string, std::uint32_t> known;
  groups.group_of.reserve(names.size());
  for (const std::string& name : names) {
    std::string group = groupOfName(name);
    const auto next = static_cast<std::uint32_t>(groups.titles.size());
    const auto [at, is_new] = known.try_emplace(group, next);
    groups.any |= (!is_new && !name.empty()) || group != name;
    if (is_new) {
      const bool generic = std::ranges::count(group, '*') > std::ranges::count(name, '*');
      groups.labels.push_back(generic ? std::string() : shortName(group));
      groups.titles.push_back(std::move(group));
      groups.first.push_back(static_cast<std::uint32_t>(groups.group_of.size()));
      groups.sizes.push_back(0);
    }
    ++groups.sizes[at->second];
    groups.group_of.push_back(at->second);
  }
  return groups;
}

}  // namespace pitwall::gui
