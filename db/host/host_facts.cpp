#include "db/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <set>
#include <sstream>
#include <utility>

#include "db/machine.h"
#include "db/meta.h"
#include "db/proc_files.h"

namespace pitwall::host {
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

}  // namespace pitwall::host
