#include "runtime/session/host_facts.h"

#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "db/machine.h"
#include "db/meta.h"
#include "runtime/session/cpu_limits.h"

namespace pitwall::session {

namespace {

using Facts = std::map<std::string, std::string>;

void addCount(Facts& facts, const char* key, hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int count = hwloc_get_nbobjs_by_type(topology, type);
  if (count > 0) facts[key] = std::to_string(count);
}

int coresTouched(hwloc_topology_t topology) {
  hwloc_bitmap_t mask = hwloc_bitmap_alloc();
  int touched = 0;
  if (mask != nullptr && hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_THREAD) == 0) {
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < cores; ++i) {
      hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
      if (hwloc_bitmap_intersects(core->cpuset, mask) != 0) ++touched;
    }
  }
  hwloc_bitmap_free(mask);
  return touched;
}

void addTopology(Facts& facts) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  // The whole machine, including the part that a container may not use: the limits are separate facts.
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(topology) == 0) {
    addCount(facts, meta::kLogicalCpus, topology, HWLOC_OBJ_PU);
    addCount(facts, meta::kPhysicalCores, topology, HWLOC_OBJ_CORE);
    addCount(facts, meta::kSockets, topology, HWLOC_OBJ_PACKAGE);
    addCount(facts, meta::kNumaNodes, topology, HWLOC_OBJ_NUMANODE);
    if (const int cores = coresTouched(topology); cores > 0)
      facts[meta::kUsableCores] = std::to_string(cores);
  }
  hwloc_topology_destroy(topology);
}

}  // namespace

std::string procField(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t key_end = line.find_last_not_of(" \t", colon - 1);
    if (colon == 0 || key_end == std::string::npos || line.compare(0, key_end + 1, key) != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::map<std::string, std::string> hostFacts() {
  Facts facts;
  addTopology(facts);
  if (facts.find(meta::kLogicalCpus) == facts.end()) {
    facts[meta::kLogicalCpus] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  }
  utsname system{};
  if (uname(&system) == 0) {
    facts[meta::kHostName] = system.nodename;
    facts[meta::kHostOs] = std::string(system.sysname) + " " + system.release;
  }
  const std::string model = cpuModel();
  if (!model.empty()) facts[meta::kCpuModel] = model;
  facts.merge(readRoofline(rooflinePath(model)));
  facts.merge(cacheFacts());
  if (const int kinds = coreKinds(); kinds > 0) facts[meta::kCoreKinds] = std::to_string(kinds);
  const long long kib = std::atoll(procField("/proc/meminfo", "MemTotal").c_str());
  if (kib > 0) facts[meta::kMemoryBytes] = std::to_string(kib * 1024);
  const std::optional<double> quota = cgroupCpus();
  if (quota) facts[meta::kCgroupCpus] = std::to_string(*quota);
  facts[meta::kUsableCpus] = std::to_string(usableCpus(affinityCpus(), quota));
  return facts;
}

}  // namespace pitwall::session
