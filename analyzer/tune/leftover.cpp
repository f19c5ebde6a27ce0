#include "analyzer/tune/leftover.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "db/proc_files.h"

namespace pitwall::tuning {
namespace {

namespace fs = std::filesystem;

// The process group in /proc/PID/stat: the third field after the name, which may hold anything in its parentheses.
std::optional<std::int64_t> groupOf(const std::string& process) {
  const std::string stat = host::readFile(process + "/stat").value_or("");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || stat.size() < name_end + 4) return std::nullopt;
  std::string_view rest = std::string_view(stat).substr(name_end + 4);  // behind ") S "
  if (!host::takeNumber(rest)) return std::nullopt;                     // the parent
  return host::takeNumber(rest);
}

bool isTrial(const std::string& process) {
  const std::string environment = '\0' + host::readFile(process + "/environ").value_or("");
  return environment.find('\0' + std::string(kTrialVariable) + "=") != std::string::npos;
}

}  // namespace

void noteGroup(const std::string& file, pid_t group) { std::ofstream(file) << group << "\n"; }

void endLeftover(const std::string& file) {
  const std::string text = host::readFile(file).value_or("");
  std::string_view number = text;
  const auto group = host::takeNumber(number);
  if (!group || *group <= 1) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    const auto [stop, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (wrong != std::errc() || stop != name.data() + name.size()) continue;
    const std::string folder = entry.path().string();
    if (groupOf(folder) == group && isTrial(folder)) ::kill(process, SIGKILL);
  }
  fs::remove(file, error);
}

}  // namespace pitwall::tuning
