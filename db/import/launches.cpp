#include "db/import/launches.h"

#include <fmt/format.h>

namespace pitwall::import {

CorrelationId Launches::host(std::uint64_t key) {
  if (key == 0) return 0;
  const auto [found, fresh] = hosts_.try_emplace(key, 0);
  if (!fresh) return 0;  // a driver call inside a runtime call: the outer one stands for both
  found->second = builder_.newCorrelation();
  return found->second;
}

CorrelationId Launches::device(std::uint64_t key) {
  if (key == 0) {
    ++without_launch_;
    return 0;
  }
  const CorrelationId id = builder_.newCorrelation();
  if (const auto found = hosts_.find(key); found != hosts_.end()) {
    builder_.depend(found->second, id, DependencyKind::launch);
  } else {
    waiting_.emplace_back(key, id);
  }
  return id;
}

void Launches::end() {
  for (const auto& [key, id] : waiting_) {
    if (const auto found = hosts_.find(key); found != hosts_.end()) {
      builder_.depend(found->second, id, DependencyKind::launch);
    } else {
      ++without_launch_;
    }
  }
  if (without_launch_ > 0) {
    builder_.note(
        fmt::format("{}: {} pieces of device work have no launch in the file: launched before the "
                    "recording began, or launches were not recorded",
                    builder_.input().path, without_launch_));
  }
}

}  // namespace pitwall::import
