#include "analyzer/record/stacks/mappings.h"

#include <algorithm>
#include <charconv>

namespace pitwall::record {
namespace {

// Reads a number up to `end` and moves `text` behind it.
bool takeNumber(std::string_view& text, char end, std::uint64_t& value, int base) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto length = static_cast<std::size_t>(at - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != end) return false;
  text.remove_prefix(length + 1);
  return true;
}

bool takeHex(std::string_view& text, char end, std::uint64_t& value) {
  return takeNumber(text, end, value, 16);
}

// "7f01-7f02 r-xp 00001000 fd:00 1234    /usr/lib/libc.so.6"
bool parseLine(std::string_view line, Mapping& mapping) {
  if (!takeHex(line, '-', mapping.begin) || !takeHex(line, ' ', mapping.end) || line.size() < 5) return false;
  mapping.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!takeHex(line, ' ', mapping.file_offset)) return false;
  std::uint64_t major = 0, minor = 0;
  if (!takeHex(line, ':', major) || !takeHex(line, ' ', minor)) return false;
  mapping.device = major << 32 | minor;
  if (!takeNumber(line, ' ', mapping.inode, 10)) return false;
  const std::size_t path = line.find('/');
  if (path != line.npos) mapping.path = line.substr(path);
  return mapping.begin < mapping.end;
}

}  // namespace

std::vector<Mapping> parseMappings(std::string_view maps) {
  std::vector<Mapping> mappings;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    Mapping mapping;
    if (parseLine(maps.substr(0, end), mapping)) mappings.push_back(std::move(mapping));
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return mappings;
}

const Mapping* mappingAt(const std::vector<Mapping>& mappings, Address at) {
  const auto after = std::ranges::upper_bound(mappings, at, {}, &Mapping::begin);
  if (after == mappings.begin()) return nullptr;
  const Mapping& mapping = *std::prev(after);
  return at < mapping.end ? &mapping : nullptr;
}

}  // namespace pitwall::record
