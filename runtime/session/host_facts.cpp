#include "runtime/session/host_facts.h"

#include <unistd.h>

#include "db/cgroup.h"
#include "db/host_facts.h"
#include "db/meta.h"
#include "db/usable_cpus.h"

namespace pitwall::session {

std::map<std::string, std::string> hostFacts() {
  auto facts = host::hostFacts();
  const std::vector<int> affinity = host::affinityCpus();
  if (const int cores = host::coresOf(affinity); cores > 0) facts[meta::kUsableCores] = std::to_string(cores);
  const auto quota = host::cgroupCpus(getpid());
  if (quota) facts[meta::kCgroupCpus] = std::to_string(*quota);
  facts[meta::kUsableCpus] = std::to_string(host::usableCpus(affinity.size(), quota));
  return facts;
}

}  // namespace pitwall::session
