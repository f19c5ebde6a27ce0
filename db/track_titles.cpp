#include "db/track_titles.h"

#include <map>
#include <utility>

namespace pitwall {

std::string deviceTitle(const DeviceInfo& device) { return device.kind + " " + std::to_string(device.index); }

std::string processTitle(const ProcessInfo& process, bool several_ranks) {
  std::string title = process.name.empty() ? "process" : process.name;
  if (process.pid != 0) title += " (" + std::to_string(process.pid) + ")";
  return several_ranks ? "rank " + std::to_string(process.rank) + ": " + title : title;
}

std::vector<std::string> threadTitles(const Trace& trace) {
  std::map<std::pair<std::uint32_t, std::string>, int> uses;
  for (const ThreadInfo& thread : trace.threads()) ++uses[{thread.process.value, thread.name}];
  std::vector<std::string> titles;
  for (const ThreadInfo& thread : trace.threads()) {
    const std::string number = std::to_string(thread.tid);
    const bool several = uses[{thread.process.value, thread.name}] > 1;
    titles.push_back(thread.name.empty() ? "thread " + number
                     : several           ? thread.name + " (" + number + ")"
                                         : thread.name);
  }
  return titles;
}

}  // namespace pitwall
