#include "record/sample/host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "db/machine.h"
#include "db/meta.h"
#include "record/sample/proc_files.h"

namespace pitwall::record {
namespace {

std::vector<int> cpuList(const std::string& path) { return parseCpuList(readFile(path).value_or("")); }

int numberIn(const std::string& path) {
  int number = -1;
  std::istringstream(readFile(path).value_or("")) >> number;
  return number;
}

using Core = std::pair<int, int>;  // package, core within it

std::set<Core> coresTouched(const std::vector<int>& cpus, const std::string& root) {
  std::set<Core> cores;
  for (const int cpu : cpus) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const Core core{numberIn(folder + "physical_package_id"), numberIn(folder + "core_id")};
    if (core.second >= 0) cores.insert(core);
  }
  return cores;
}

void addTopology(std::map<std::string, std::string>& facts, const std::string& root) {
  const std::vector<int> cpus = cpuList(root + "/sys/devices/system/cpu/online");
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  facts[meta::kLogicalCpus] = std::to_string(cpus.empty() ? online : static_cast<long>(cpus.size()));
  const std::set<Core> cores = coresTouched(cpus, root);
  if (!cores.empty()) {
    std::set<int> packages;
    for (const Core& core : cores) packages.insert(core.first);
    facts[meta::kPhysicalCores] = std::to_string(cores.size());
    facts[meta::kSockets] = std::to_string(packages.size());
  }
  const std::vector<int> nodes = cpuList(root + "/sys/devices/system/node/online");
  if (!nodes.empty()) facts[meta::kNumaNodes] = std::to_string(nodes.size());
  std::string node_cpus;
  for (const int node : nodes) {
    std::string list =
        readFile(root + "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist").value_or("");
    while (!list.empty() && list.back() == '\n') list.pop_back();
    node_cpus += (node_cpus.empty() ? "" : ";") + list;
  }
  if (!node_cpus.empty()) facts[meta::kNumaCpus] = node_cpus;
}

}  // namespace

std::map<std::string, std::string> hostFacts(const std::string& root) {
  std::map<std::string, std::string> facts;
  addTopology(facts, root);
  utsname system{};
  if (uname(&system) == 0) {
    facts[meta::kHostName] = system.nodename;
    facts[meta::kHostOs] = std::string(system.sysname) + " " + system.release;
  }
  const std::string model = cpuModel(root);
  if (!model.empty()) facts[meta::kCpuModel] = model;
  if (root == "/") facts.merge(readRoofline(rooflinePath(model)));
  facts.merge(cacheFacts(root));
  if (const int kinds = coreKinds(root); kinds > 0) facts[meta::kCoreKinds] = std::to_string(kinds);
  const auto kib = fieldOf(readFile(root + "/proc/meminfo").value_or(""), "MemTotal");
  if (kib) facts[meta::kMemoryBytes] = std::to_string(*kib * 1024);
  return facts;
}

int coresOf(const std::vector<int>& cpus, const std::string& root) {
  return static_cast<int>(coresTouched(cpus, root).size());
}

std::optional<HostLoad> hostLoad(const std::string& root) {
  const std::string whole = readFile(root + "/proc/stat").value_or("");
  std::istringstream text(whole);
  std::string word;
  std::array<std::int64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (!(text >> word) || word != "cpu") return std::nullopt;
  for (auto& value : ticks) {
    if (!(text >> value)) return std::nullopt;
  }
  const TimeNs tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  HostLoad load{(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick_ns, ticks[7] * tick_ns, {}};
  const std::string key = "\nprocs_running ";
  if (const std::size_t at = whole.find(key); at != whole.npos)
    load.runnable = std::atoi(whole.c_str() + at + key.size());
  return load;
}

std::optional<TimeNs> pressureNs(const std::string& resource, const std::string& root) {
  // "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds; a line "full ..." follows.
  const std::string text = readFile(root + "/proc/pressure/" + resource).value_or("");
  const std::string key = "total=";
  const std::size_t at = text.find(key);
  if (!text.starts_with("some") || at == text.npos) return std::nullopt;
  return std::strtoll(text.c_str() + at + key.size(), nullptr, 10) * 1000;
}

}  // namespace pitwall::record
