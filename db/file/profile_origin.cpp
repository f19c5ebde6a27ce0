#include "db/profile_origin.h"

#include <charconv>
#include <fstream>

namespace pitwall {
namespace {

constexpr std::size_t kMostLines = 4096;

// Removes the number from the front of `text`, with the blank after it.
template <class Number>
std::optional<Number> frontNumber(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

void takeLine(std::string_view key, std::string_view value, ProfileOrigin& origin) {
  if (key == "framework") origin.framework = value;
  if (key == "path") origin.path = value;
  if (key == "note") origin.notes.emplace_back(value);
  if (key == "process") origin.pid = frontNumber<std::int64_t>(value).value_or(0);
  if (key == "start_unix_ns") origin.start_unix_ns = frontNumber<std::int64_t>(value);
  if (key == "thread") {
    const auto handle = frontNumber<std::uint64_t>(value);
    const auto id = frontNumber<std::int64_t>(value);
    if (handle && id) origin.threads.emplace_back(*handle, *id);
  }
}

}  // namespace

Result<ProfileOrigin> readProfileOrigin(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::io, path + ": cannot be read");
  std::string line;
  if (!std::getline(file, line) || line != kProfileOriginLine)
    return fail(ErrorCode::invalidInput,
                path + ": its first line is not \"" + std::string(kProfileOriginLine) + "\"");
  ProfileOrigin origin;
  for (std::size_t lines = 0; lines < kMostLines && std::getline(file, line); ++lines) {
    const std::size_t blank = line.find(' ');
    if (blank == line.npos) continue;
    takeLine(std::string_view(line).substr(0, blank), std::string_view(line).substr(blank + 1), origin);
  }
  return origin;
}

}  // namespace pitwall
