#include "db/track_titles.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace pitwall {

std::string deviceTitle(const DeviceInfo& device) { return device.kind + " " + std::to_string(device.index); }

std::string processTitle(const ProcessInfo& process, bool several_ranks) {
  std::string title = process.name.empty() ? "process" : process.name;
  if (process.pid != 0) title += " (" + std::to_string(process.pid) + ")";
  return several_ranks ? "rank " + std::to_string(process.rank) + ": " + title : title;
}

std::vector<std::string> threadTitles(const Trace& trace) {
  const auto threads = trace.threads();
  // Threads of one process and name are neighbours by this hash. Should two others be, too, they get numbers.
  std::vector<std::pair<std::size_t, std::size_t>> by_name;
  by_name.reserve(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t)
    by_name.emplace_back(std::hash<std::string_view>()(threads[t].name) + threads[t].process.value, t);
  std::sort(by_name.begin(), by_name.end());
  std::vector<bool> several(threads.size());
  for (std::size_t i = 1; i < by_name.size(); ++i) {
    if (by_name[i].first == by_name[i - 1].first)
      several[by_name[i].second] = several[by_name[i - 1].second] = true;
  }
  std::vector<std::string> titles;
  titles.reserve(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const std::string number = std::to_string(threads[t].tid);
    titles.push_back(threads[t].name.empty() ? "thread " + number
                     : several[t]            ? threads[t].name + " (" + number + ")"
                                             : threads[t].name);
  }
  return titles;
}

}  // namespace pitwall
