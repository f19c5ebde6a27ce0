#include "gui/timeline/name_groups.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

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

namespace {

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

// Where the list in angle brackets that ends the text begins; npos: it ends in none.
std::size_t beginOfArguments(std::string_view text) {
  if (text.empty() || text.back() != '>') return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == '>' ? 1 : text[i] == '<' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// Where the parameters begin; npos: there are none.
std::size_t beginOfParameters(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] == '(' && depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string_view afterLast(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string_view::npos ? text : text.substr(at + mark.size());
}

bool isQualifiedName(std::string_view text) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':' && c != '~') return false;
  }
  return !text.empty() && isDigit(text.front()) == false;
}

// "FillFunctor" of "<4, at::native::FillFunctor<float>, ...>"; empty: no argument has a namespace.
std::string_view firstClass(std::string_view arguments) {
  const std::size_t colons = arguments.find("::");
  if (colons == std::string_view::npos) return {};
  const std::size_t end = arguments.find_first_of("<(,>{", colons);
  const std::string_view name = afterLast(arguments.substr(0, end), "::");
  return isQualifiedName(name) ? name : std::string_view{};
}

}  // namespace

std::string shortName(std::string_view name) {
  const std::string text = without(without(std::string(name), "(anonymous namespace)::"), "<unnamed>::");
  std::string_view head = std::string_view(text).substr(0, beginOfParameters(text));
  const bool has_parameters = head.size() < text.size() && text.back() == ')';
  const std::size_t open = beginOfArguments(head);
  if (!has_parameters && (open == std::string_view::npos || head.size() < text.size()))
    return std::string(name);
  const std::string_view arguments =
      open == std::string_view::npos ? std::string_view{} : head.substr(open + 1);
  // A type before the name may have arguments with blanks, and ends with one.
  const std::string_view qualified = afterLast(head.substr(0, open), " ");
  const std::string_view base = afterLast(qualified, "::");
  if (!isQualifiedName(base)) return std::string(name);
  // Of "Memcpy HtoD (Pageable -> Device)" and "step.py(12): f()" nothing is left out.
  if (!isQualifiedName(afterLast(qualified, "> ")) ||
      (open == std::string_view::npos && text[head.size() - 1] == ' '))
    return std::string(name);
  const std::string_view of = firstClass(arguments);
  return std::string(base) + (of.empty() ? "" : "<" + std::string(of) + ">");
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
