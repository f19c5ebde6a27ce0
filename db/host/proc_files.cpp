#include "db/proc_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>

namespace pitwall::host {
namespace {

constexpr int kMaxCpus = 1 << 16;  // upper bound; a damaged list must not allocate a large vector

std::atomic<int> open_files = 0;  // that stay open

}  // namespace

std::optional<std::int64_t> takeNumber(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool readFileInto(int folder, const char* path, std::string& text) {
  const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  if (text.size() < 4096) text.resize(4096);
  std::size_t size = 0;
  ssize_t got = 0;
  while ((got = read(file, text.data() + size, text.size() - size)) > 0) {
    size += static_cast<std::size_t>(got);
    if (size == text.size()) text.resize(size * 2);
  }
  close(file);
  text.resize(size);
  return got == 0;
}

RepeatedFile::~RepeatedFile() {
  if (file_ < 0) return;
  close(file_);
  --open_files;
}

bool RepeatedFile::readInto(int folder, const char* path, std::string& text) {
  if (file_ < 0) {
    if (open_files >= kMostOpen) return readFileInto(folder, path, text);
    file_ = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file_ < 0) return false;
    ++open_files;
  }
  if (text.size() < 4096) text.resize(4096);
  const ssize_t got = pread(file_, text.data(), text.size(), 0);
  if (got == static_cast<ssize_t>(text.size())) {  // more than a record
    text.clear();
    errno = EFBIG;
    return false;
  }
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got >= 0;
}

std::optional<std::string> readFile(const std::string& path) {
  std::string text;
  if (!readFileInto(AT_FDCWD, path.c_str(), text)) return std::nullopt;
  return text;
}

std::optional<std::int64_t> fieldOf(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
    const std::size_t colon = at + key.size();
    if ((at != 0 && text[at - 1] != '\n') || colon >= text.size() || text[colon] != ':') continue;
    std::string_view rest = text.substr(colon + 1);
    return takeNumber(rest);
  }
  return std::nullopt;
}

std::vector<int> parseCpuList(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = takeNumber(part);
    if (!first || *first < 0 || *first >= kMaxCpus) continue;
    std::int64_t last = *first;
    if (!part.empty() && part.front() == '-') {
      part.remove_prefix(1);
      last = takeNumber(part).value_or(-1);
    }
    for (std::int64_t i = *first; i <= last && i < kMaxCpus; ++i) numbers.push_back(static_cast<int>(i));
  }
  return numbers;
}

}  // namespace pitwall::host
