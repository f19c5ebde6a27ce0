#include "analyzer/record/launch/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace pitwall::record {
namespace {

bool isFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool isExecutable(const std::string& path) { return isFile(path) && access(path.c_str(), X_OK) == 0; }

std::string hostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

const std::string* find(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) return &entry;
  }
  return nullptr;
}

}  // namespace

Result<std::string> findProgram(const std::string& command, const std::string& path) {
  const auto denied = [&](const std::string& file) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: is not executable; chmod +x it, or name the program that runs it", file));
  };
  if (command.find('/') != command.npos) {
    if (isExecutable(command)) return command;
    if (access(command.c_str(), F_OK) == 0) return denied(command);
    return fail(ErrorCode::notFound, command + ": no such program");
  }
  std::string found;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const std::string file = (folder.empty() ? "." : folder) + "/" + command;
    if (isExecutable(file)) return file;
    if (found.empty() && isFile(file)) found = file;
    at = end + 1;
  }
  if (!found.empty()) return denied(found);
  return fail(ErrorCode::notFound, command + ": no such program in PATH");
}

Result<OutputName> outputName(std::string_view text, pid_t pid, std::optional<int> rank) {
  OutputName name;
  bool distinct = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name.path += text[i];
      continue;
    }
    const char letter = i + 1 < text.size() ? text[++i] : '\0';
    switch (letter) {
      case 'p': name.path += std::to_string(pid), distinct = true; break;
      case 'r': name.path += std::to_string(rank.value_or(0)), distinct = true; break;
      case 'h': name.path += hostName(); break;
      case '%': name.path += '%'; break;
      default:
        return fail(ErrorCode::invalidInput,
                    fmt::format("-o {}: after % comes p (process id), r (rank), h (host) or %", text));
    }
  }
  if (rank && !distinct) {
    const std::filesystem::path path(name.path);
    name.path = (path.parent_path() / path.stem()).string() + fmt::format(".rank{}", *rank) +
                path.extension().string();
    name.rank_added = true;
  }
  return name;
}

std::string findInjectionLibrary(const std::string& executable) {
  const std::filesystem::path folder = std::filesystem::path(executable).parent_path();
  for (const char* place :
       {"", "../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu"}) {
    std::error_code none;
    // The name itself is a link, and stays: by it a program sees that Pitwall records.
    const auto path = std::filesystem::weakly_canonical(folder / place, none) / "libpitwall_inject.so";
    if (!none && isFile(path.string())) return path.string();
  }
  return {};
}

std::string findPythonFolder(const std::string& injection_library) {
  const auto folder = std::filesystem::path(injection_library).parent_path() / "pitwall" / "python";
  return isFile((folder / "sitecustomize.py").string()) ? folder.string() : std::string();
}

std::vector<std::string> programEnvironment(std::span<const std::string> own, const ProgramSettings& settings,
                                            std::vector<std::string>& notes) {
  std::vector<std::string> environment(own.begin(), own.end());
  const auto set = [&environment](const std::string& name, const std::string& value) {
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    environment.push_back(name + "=" + value);
  };
  if (!settings.trace_template.empty()) set("PITWALL_TRACE", settings.trace_template);
  if (!settings.injection_library.empty()) {
    for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
      if (const std::string* other = find(own, name)) {
        notes.push_back(*other +
                        " is set: another tool records there, and this recording continues without it");
      } else {
        set(name, settings.injection_library);
      }
    }
  }
  if (!settings.python_folder.empty()) {
    const std::string* other = find(own, "PYTHONPATH");
    const std::string after = other == nullptr ? std::string() : other->substr(other->find('=') + 1);
    set("PYTHONPATH", settings.python_folder + (after.empty() ? "" : ":" + after));
  }
  std::string domains;
  for (const std::string& domain : settings.only_domains) domains += (domains.empty() ? "" : ",") + domain;
  if (!domains.empty()) set("PITWALL_RECORD_ONLY", domains);
  if (settings.last_s) set("PITWALL_RECORD_LAST", fmt::format("{:.3f}", *settings.last_s));
  if (settings.until_monotonic_s)
    set("PITWALL_RECORD_UNTIL", fmt::format("{:.3f}", *settings.until_monotonic_s));
  if (settings.onednn) {
    // The number 1 means executions in every version; later ones also accept words, which older ones read as
    // 0.
    for (const char* name : {"ONEDNN_VERBOSE", "DNNL_VERBOSE", "MKLDNN_VERBOSE"}) {
      if (find(own, name) == nullptr) set(name, "1");
    }
    for (const char* name : {"ONEDNN_VERBOSE_TIMESTAMP", "DNNL_VERBOSE_TIMESTAMP"}) set(name, "1");
  }
  return environment;
}

}  // namespace pitwall::record
