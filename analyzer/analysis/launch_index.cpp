// Device work by the call that launched it.
#include <algorithm>

#include "analyzer/analysis/activity.h"

namespace pitwall::analysis {
namespace {

template <typename Visitor>
Status eachLaunch(Trace& trace, const Visitor& visitor) {
  return trace.visitDependencies([&](std::span<const Dependency> dependencies) {
    for (const auto& dependency : dependencies) {
      if (dependency.kind == DependencyKind::launch) visitor(dependency);
    }
    return true;
  });
}

}  // namespace

Result<LaunchIndex> LaunchIndex::make(Trace& trace, const Activity& activity) {
  LaunchIndex index(activity.calls);
  if (activity.work.empty()) return index;
  CorrelationId low = UINT64_MAX, high = 0;
  std::size_t ids = 0;
  const auto reach = [&](CorrelationId id) {
    if (id == 0) return;
    low = std::min(low, id), high = std::max(high, id);
    ++ids;
  };
  for (const auto& call : activity.calls) reach(call.correlation);
  auto seen = eachLaunch(trace, [&](const Dependency& launch) { reach(launch.target); });
  if (!seen.has_value()) return fail(seen.error());
  index.first_ = low;
  if (ids > 0 && high - low < kSpread * ids) index.dense_.assign(high - low + 1, 0);
  for (std::size_t i = 0; i < activity.calls.size(); ++i)
    index.put(activity.calls[i].correlation, static_cast<std::uint32_t>(i) + 1);
  index.sortSparse();
  // What a dependency says comes after the calls' own: a work's own correlation names its launch already.
  std::vector<std::pair<CorrelationId, std::uint32_t>> launched;
  seen = eachLaunch(trace, [&](const Dependency& launch) {
    const auto* call = index.find(launch.source);
    if (call == nullptr || call->correlation != launch.source || launch.target == 0) return;
    const auto at = static_cast<std::uint32_t>(call - activity.calls.data()) + 1;
    if (index.dense_.empty()) {
      launched.emplace_back(launch.target, at);
    } else {
      index.put(launch.target, at);
    }
  });
  if (!seen.has_value()) return fail(seen.error());
  index.sparse_.insert(index.sparse_.end(), launched.begin(), launched.end());
  index.sortSparse();
  return index;
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

}  // namespace pitwall::analysis
