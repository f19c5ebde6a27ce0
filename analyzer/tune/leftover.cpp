#include "analyzer/tune/leftover.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "analyzer/record/sample/proc_files.h"
#include "db/proc_files.h"

namespace pitwall::tuning {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kMostWait{10};
constexpr std::chrono::milliseconds kStep{1};

bool isTrial(const std::string& process) {
  const std::string environment = '\0' + host::readFile(process + "/environ").value_or("");
  return environment.find('\0' + std::string(kTrialVariable) + "=") != std::string::npos;
}

// Sends SIGKILL to the processes of the trial in the group. False when all have ended.
//
// An ending process gives up its memory first, with its environment; then its files and their locks, each thread for
// itself. It has ended when it is a zombie without other threads.
bool killGroup(std::int64_t group) {
  bool found = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    const auto [stop, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (wrong != std::errc() || stop != name.data() + name.size() || ::getpgid(process) != group) continue;
    const std::string folder = entry.path().string();
    const bool is_trial = isTrial(folder);
    const auto stat = record::parseStat(host::readFile(folder + "/stat").value_or(""));
    if (!stat || ((stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1)) continue;
    if (is_trial) ::kill(process, SIGKILL);
    found = found || is_trial || stat->resident_pages == 0;
  }
  return found;
}

}  // namespace

void noteGroup(const std::string& file, pid_t group) { std::ofstream(file) << group << "\n"; }

void endLeftover(const std::string& file) {
  const std::string text = host::readFile(file).value_or("");
  std::string_view number = text;
  const auto group = host::takeNumber(number);
  if (!group || *group <= 1) return;
  // Again until none is left: one may have started another meanwhile.
  const auto until = std::chrono::steady_clock::now() + kMostWait;
  while (killGroup(*group) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kStep);
  std::error_code error;
  fs::remove(file, error);
}

}  // namespace pitwall::tuning
