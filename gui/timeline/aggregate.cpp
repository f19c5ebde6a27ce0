#include "gui/timeline/aggregate.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

TimeNs percentile(std::vector<TimeNs>& values, double p) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Bucket {
  TimeNs total = 0;
  std::vector<TimeNs> durations;
};

AggregateRow rowOf(std::uint32_t name, Bucket& bucket) {
  AggregateRow row{
      .name = name, .count = static_cast<std::int64_t>(bucket.durations.size()), .total_ns = bucket.total};
  TimeNs sum = 0;
  row.min_ns = bucket.durations[0];
  for (const TimeNs dur : bucket.durations) {
    sum += dur;
    row.min_ns = std::min(row.min_ns, dur);
    row.max_ns = std::max(row.max_ns, dur);
  }
  row.mean_ns = sum / row.count;
  row.p50_ns = percentile(bucket.durations, 0.5);
  row.p99_ns = percentile(bucket.durations, 0.99);
  return row;
}

}  // namespace

std::vector<AggregateRow> aggregate(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                    TimeNs from, TimeNs to, const std::atomic<bool>* cancel) {
  std::vector<Bucket> buckets(timeline.names.size());  // by name
  for (const std::size_t track : tracks) {
    for (const Lane& lane : timeline.tracks[track].lanes) {
      if (cancel != nullptr && cancel->load()) break;
      for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i) {
        Bucket& bucket = buckets[std::min<std::size_t>(lane.name(i), buckets.size() - 1)];
        bucket.total += std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from);
        bucket.durations.push_back(lane.durNs(i));
      }
    }
  }
  std::vector<AggregateRow> rows;
  for (std::size_t name = 0; name < buckets.size(); ++name) {
    if (!buckets[name].durations.empty())
      rows.push_back(rowOf(static_cast<std::uint32_t>(name), buckets[name]));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AggregateRow& a, const AggregateRow& b) { return a.total_ns > b.total_ns; });
  return rows;
}

}  // namespace pitwall::gui
