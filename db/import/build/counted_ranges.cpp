#include "db/import/build/counted_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pitwall::import {
namespace {

bool launchesKernel(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"cudaLaunch",      "cuLaunch",     "hipLaunch",
                                              "hipModuleLaunch", "hipExtLaunch", "hipExtModuleLaunch"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [name](std::string_view begin) { return name.substr(0, begin.size()) == begin; });
}

}  // namespace

CorrelationId CountedRanges::range(TimeNs start_ns) {
  const CorrelationId id = builder_.arrows().newCorrelation();
  if (ranges_.size() < kMost)
    ranges_.emplace_back(start_ns, id);
  else
    too_many_ = true;
  return id;
}

void CountedRanges::call(std::string_view name, TimeNs start_ns, CorrelationId correlation) {
  if (correlation == 0 || too_many_ || !launchesKernel(name)) return;
  if (launches_.size() < kMost)
    launches_.emplace_back(start_ns, correlation);
  else
    too_many_ = true;  // also without ranges: ends the collection
}

void CountedRanges::end() {
  if (ranges_.empty()) return;
  if (too_many_ || ranges_.size() != launches_.size()) {
    builder_.tally().note(fmt::format(
        "{}: ranges with hardware counters are not joined to the calls that launched their "
        "kernels: {} ranges, "
        "{}{} launches",
        builder_.tally().input().path, ranges_.size(), too_many_ ? "more than " : "", launches_.size()));
    return;
  }
  std::sort(ranges_.begin(), ranges_.end());
  std::sort(launches_.begin(), launches_.end());
  for (std::size_t i = 0; i < ranges_.size(); ++i)
    builder_.arrows().depend(launches_[i].second, ranges_[i].second, DependencyKind::launch);
}

}  // namespace pitwall::import
