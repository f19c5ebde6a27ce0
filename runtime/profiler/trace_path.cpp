#include "runtime/profiler/trace_path.h"

#include <unistd.h>

#include <string_view>

namespace pitwall {
namespace {

constexpr std::string_view kEnding = ".pitwall";

}  // namespace

std::string expandTracePath(const std::string& path_template, std::int64_t pid, int rank) {
  std::string path;
  for (std::size_t i = 0; i < path_template.size(); ++i) {
    const char next = i + 1 < path_template.size() ? path_template[i + 1] : '\0';
    if (path_template[i] != '%' || (next != 'p' && next != 'r' && next != '%')) {
      path += path_template[i];
      continue;
    }
    ++i;
    path += next == 'p' ? std::to_string(pid) : next == 'r' ? std::to_string(rank) : "%";
  }
  return path;
}

std::string freeTracePath(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return path;
  const bool has_ending =
      path.size() > kEnding.size() && std::string_view(path).substr(path.size() - kEnding.size()) == kEnding;
  const std::string stem = has_ending ? path.substr(0, path.size() - kEnding.size()) : path;
  for (int number = 2;; ++number) {
    std::string next = stem + "-" + std::to_string(number) + (has_ending ? std::string(kEnding) : "");
    if (access(next.c_str(), F_OK) != 0) return next;
  }
}

}  // namespace pitwall
