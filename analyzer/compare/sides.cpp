#include "analyzer/compare/sides.h"

#include <algorithm>

#include "analyzer/analysis/statistics.h"

namespace pitwall::comparing {
namespace {

// Sums of the steady iterations, as of one iteration or item.
double scaled(const Measured& run, double total_ns, bool by_item) {
  return total_ns / (static_cast<double>(run.steady_iterations) * itemsOf(run, by_item));
}

void addShares(const Measured& run, Measured& combined) {
  for (const TimeShare& share : run.shares) {
    const bool known = std::any_of(combined.shares.begin(), combined.shares.end(),
                                   [&](const TimeShare& other) { return other.category == share.category; });
    if (!known) combined.shares.push_back(share);
  }
}

}  // namespace

Side sideOf(std::span<const Measured> runs) {
  Side side;
  side.combined = runs.front();
  Measured& combined = side.combined;
  const auto count = static_cast<double>(runs.size());
  combined.items_per_iteration = combined.mean_with_outliers_ns = combined.whole_ns = 0;
  combined.outliers = 0;
  for (const Measured& run : runs) {
    side.runs.push_back(&run);
    combined.complete = combined.complete && run.complete;
    combined.device_count = std::max(combined.device_count, run.device_count);
    combined.items_per_iteration += run.items_per_iteration / count;
    combined.mean_with_outliers_ns += run.mean_with_outliers_ns / count;
    combined.whole_ns += run.whole_ns / count;
    combined.outliers += run.outliers;
    combined.work.insert(run.work.begin(), run.work.end());
    addShares(run, combined);
  }
  return side;
}

double itemsOf(const Measured& run, bool by_item) {
  return by_item && run.items_per_iteration > 0 ? run.items_per_iteration : 1;
}

std::vector<RunTime> timesOf(const Side& side, bool by_item, bool by_recording) {
  std::vector<RunTime> times;
  for (const Measured* run : side.runs) {
    const double ns = by_recording ? run->whole_ns : medianOf(run->iterations_ns) / itemsOf(*run, by_item);
    times.push_back({ns, by_recording ? 0 : spreadOfParts(run->iterations_ns)});
  }
  return times;
}

std::vector<RunTime> fastestOf(const Side& side, bool by_item) {
  std::vector<RunTime> times;
  for (const Measured* run : side.runs) {
    if (run->iterations_ns.size() < kFewestForFastest) return {};
    times.push_back({analysis::quantile(run->iterations_ns, kFastestQuantile) / itemsOf(*run, by_item)});
  }
  return times;
}

std::vector<RunTime> shareOf(const Side& side, const std::string& category, bool by_item) {
  std::vector<RunTime> times;
  for (const Measured* run : side.runs) {
    const auto found = std::find_if(run->shares.begin(), run->shares.end(),
                                    [&](const TimeShare& share) { return share.category == category; });
    const double total = found == run->shares.end() ? 0 : static_cast<double>(found->total_ns);
    times.push_back({scaled(*run, total, by_item)});
  }
  return times;
}

std::vector<RunTime> workOf(const Side& side, const std::string& name, bool by_item) {
  std::vector<RunTime> times;
  for (const Measured* run : side.runs) {
    const auto found = run->work.find(name);
    times.push_back({found == run->work.end() ? 0 : scaled(*run, found->second.total_ns, by_item)});
  }
  return times;
}

bool isSameRecording(const Measured& a, const Measured& b) {
  const auto same = [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.count == right.second.count &&
           left.second.total_ns == right.second.total_ns;
  };
  return a.iterations_ns == b.iterations_ns && a.whole_ns == b.whole_ns && a.work.size() == b.work.size() &&
         std::equal(a.work.begin(), a.work.end(), b.work.begin(), same) && a.settings == b.settings;
}

}  // namespace pitwall::comparing
