#include "analyzer/analysis/job_ranks.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace pitwall::analysis {

std::int64_t ranksOfJob(const Trace& trace) {
  std::set<int> ranks;
  for (const ProcessInfo& process : trace.processes()) ranks.insert(process.rank);
  const auto given = trace.meta("distributed.world_size").value_or("0");
  return std::max({std::int64_t{1}, static_cast<std::int64_t>(ranks.size()),
                   static_cast<std::int64_t>(std::strtoll(given.c_str(), nullptr, 10))});
}

}  // namespace pitwall::analysis
