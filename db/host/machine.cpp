#include "db/machine.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "db/meta.h"

namespace pitwall {
namespace {

namespace fs = std::filesystem;

bool isAbsolute(const char* path) { return path != nullptr && path[0] == '/'; }

bool isNumber(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size() && std::isfinite(value) && value >= 0;
}

// The number of distinct core capacities, where the kernel reports them (cpu_capacity, on Arm).
int capacities(const fs::path& cpus) {
  std::set<long> kinds;
  std::error_code none;
  for (fs::directory_iterator at(cpus, none), end; !none && at != end; at.increment(none)) {
    long capacity = 0;
    if (std::ifstream(at->path() / "cpu_capacity") >> capacity) kinds.insert(capacity);
  }
  return static_cast<int>(kinds.size());
}

}  // namespace

int coreKinds(const std::string& root) {
  const fs::path devices = fs::path(root) / "sys/devices";
  int kinds = 0;
  // The kernel has a performance monitoring unit for each kind of core where there are several kinds.
  for (const char* unit : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
    std::string cpus;
    if (std::ifstream(devices / unit / "cpus") >> cpus && !cpus.empty()) ++kinds;
  }
  if (kinds == 0) kinds = capacities(devices / "system/cpu");
  std::error_code none;
  return kinds == 0 && fs::exists(devices / "system/cpu/online", none) ? 1 : kinds;
}

MachineFacts cacheFacts(const std::string& root) {
  constexpr const char* kKeys[] = {meta::kL1CacheBytes, meta::kL2CacheBytes, meta::kL3CacheBytes};
  MachineFacts facts;
  std::error_code none;
  const fs::path folder = fs::path(root) / "sys/devices/system/cpu/cpu0/cache";
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    std::size_t level = 0;
    long long size = 0;
    std::string type, unit;
    std::ifstream(at->path() / "level") >> level;
    std::ifstream(at->path() / "type") >> type;
    std::ifstream(at->path() / "size") >> size >> unit;  // "1024K"
    if (level < 1 || level > std::size(kKeys) || type == "Instruction" || size <= 0) continue;
    const long long bytes = unit == "K" ? size << 10 : unit == "M" ? size << 20 : size;
    facts[kKeys[level - 1]] = std::to_string(bytes);
  }
  return facts;
}

std::string cpuModel(const std::string& root) {
  std::ifstream file(fs::path(root) / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto value = line.find_first_not_of(" \t", std::min(line.find(':'), line.size() - 1) + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return {};
}

std::string cacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); isAbsolute(cache))
    return (fs::path(cache) / "pitwall").string();
  const char* home = std::getenv("HOME");
  return isAbsolute(home) ? (fs::path(home) / ".cache/pitwall").string() : "";
}

std::string rooflinePath(std::string_view cpu_model) {
  const std::string folder = cacheFolder();
  if (folder.empty()) return {};
  std::string name;
  for (const char c : cpu_model) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return folder + "/roof-" + (name.empty() ? "unknown" : name) + ".txt";
}

MachineFacts readRoofline(const std::string& path) {
  MachineFacts roofline;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, value, more;
    if (!(words >> key >> value) || words >> more) continue;
    if (key.rfind(meta::kRooflinePrefix, 0) == 0 && isNumber(value)) roofline[key] = value;
  }
  return roofline;
}

Status saveRoofline(const std::string& path, const MachineFacts& roofline) {
  const auto refuse = [&path](const std::string& why) {
    return fail(ErrorCode::io, "cannot write the roofline to '" + path + "': " + why +
                                   "; make the folder writable, or name another one in XDG_CACHE_HOME");
  };
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return refuse(error.message());
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary);
    for (const auto& [key, value] : roofline) file << key << ' ' << value << '\n';
    if (!file.flush()) return refuse("it cannot be written");
  }
  fs::rename(temporary, path, error);
  return error ? refuse(error.message()) : Status{};
}

}  // namespace pitwall
