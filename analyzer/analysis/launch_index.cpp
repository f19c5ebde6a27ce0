// Device work by the call that launched it.
#include <algorithm>

#include "analyzer/analysis/activity.h"

namespace pitwall::analysis {

LaunchIndex::LaunchIndex(std::span<const HostCall> calls, std::span<const Dependency> dependencies)
    : calls_(calls) {
  CorrelationId low = UINT64_MAX, high = 0;
  std::size_t ids = 0;
  const auto reach = [&](CorrelationId id) {
    if (id == 0) return;
    low = std::min(low, id), high = std::max(high, id);
    ++ids;
  };
  for (const auto& call : calls) reach(call.correlation);
  for (const auto& dependency : dependencies) {
    if (dependency.kind == DependencyKind::launch) reach(dependency.target);
  }
  first_ = low;
  if (ids > 0 && high - low < kSpread * ids) dense_.assign(high - low + 1, 0);
  for (std::size_t i = 0; i < calls.size(); ++i) put(calls[i].correlation, static_cast<std::uint32_t>(i) + 1);
  sortSparse();
  // What a dependency says comes after the calls' own: a work's own correlation names its launch already.
  std::vector<std::pair<CorrelationId, std::uint32_t>> launched;
  for (const auto& dependency : dependencies) {
    if (dependency.kind != DependencyKind::launch || dependency.target == 0) continue;
    const auto* call = find(dependency.source);
    if (call == nullptr) continue;
    const auto at = static_cast<std::uint32_t>(call - calls.data()) + 1;
    if (dense_.empty()) {
      launched.emplace_back(dependency.target, at);
    } else if (auto& place = dense_[dependency.target - first_]; place == 0) {
      place = at;
    }
  }
  sparse_.insert(sparse_.end(), launched.begin(), launched.end());
  sortSparse();
}

void LaunchIndex::put(CorrelationId correlation, std::uint32_t call) {
  if (correlation == 0) return;
  if (dense_.empty()) {
    sparse_.emplace_back(correlation, call);
  } else if (auto& place = dense_[correlation - first_]; place == 0) {
    place = call;
  }
}

void LaunchIndex::sortSparse() {
  const auto lower = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(sparse_.begin(), sparse_.end(), lower))
    std::stable_sort(sparse_.begin(), sparse_.end(), lower);
}

const HostCall* LaunchIndex::find(CorrelationId correlation) const {
  if (correlation == 0) return nullptr;
  if (!dense_.empty()) {
    const auto place = correlation - first_;  // wraps around below the first
    return place < dense_.size() && dense_[place] != 0 ? &calls_[dense_[place] - 1] : nullptr;
  }
  const auto at = std::partition_point(sparse_.begin(), sparse_.end(),
                                       [correlation](const auto& call) { return call.first < correlation; });
  return at != sparse_.end() && at->first == correlation ? &calls_[at->second - 1] : nullptr;
}

Result<LaunchIndex> indexLaunches(Trace& trace, const Activity& activity) {
  std::vector<Dependency> dependencies;
  if (!activity.work.empty()) {
    auto all = trace.dependencies();
    if (!all.has_value()) return fail(all.error());
    dependencies = std::move(all).value();
  }
  return LaunchIndex(activity.calls, dependencies);
}

}  // namespace pitwall::analysis
