// The threads of this process.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

namespace pitwall::test {

// A thread that has ended stays among them until the kernel has released it, a little after a join returns.
inline std::set<std::string> threadIds() {
  std::set<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    ids.insert(task.path().filename().string());
  return ids;
}

// Those that have started since `before` and are still there.
inline std::set<std::string> threadsSince(const std::set<std::string>& before) {
  const std::set<std::string> now = threadIds();
  std::set<std::string> started;
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                      std::inserter(started, started.end()));
  return started;
}

}  // namespace pitwall::test
