// Reads the small text files of /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitwall::host {

// The contents of a small file; nullopt when it cannot be read. Files of /proc have no size: read to the end.
std::optional<std::string> readFile(const std::string& path);
// The same into `text`, whose memory is reused. `path` is relative to the open folder.
bool readFileInto(int folder, const char* path, std::string& text);

// A file of one record, as /proc/PID/stat, that is read again and again: opened once, which saves three of four system
// calls. An ended process or thread does not come back under its number. At most kMostOpen stay open in a process; further
// ones are opened each time.
class RepeatedFile {
 public:
  static constexpr int kMostOpen = 256;  // a quarter of what a process may usually open

  RepeatedFile() = default;
  RepeatedFile(RepeatedFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  RepeatedFile& operator=(RepeatedFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~RepeatedFile();
  // As readFileInto. `path` is that of the first call.
  bool readInto(int folder, const char* path, std::string& text);

 private:
  int file_ = -1;
};

// Removes the next number from the front of `text`, with the blanks before it; nullopt when there is none.
std::optional<std::int64_t> takeNumber(std::string_view& text);

// The number after "key:" at a line's beginning, as in /proc/PID/status, /proc/PID/io and /proc/meminfo.
std::optional<std::int64_t> fieldOf(std::string_view text, std::string_view key);

// CPU or node lists as the kernel writes them ("0-3,8,10-11"): the numbers. Damaged parts are left out.
std::vector<int> parseCpuList(std::string_view text);

}  // namespace pitwall::host
