// Memory by tag: what is live, its peak, and whether it grows from iteration to iteration.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/temp_table.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kMemoryColumns[] = {
    {"tag", kText, "",
     "tag of the program, pool, 'resident memory' or 'gpu memory'; 'reserved: POOL' for what a pool "
     "reserves"},
    {"live_bytes", kInteger, "bytes", "last value; null = a row of what a pool reserves"},
    {"peak_bytes", kInteger, "bytes", "greatest value; null = a row of what a pool reserves"},
    {"growth_per_iteration", kReal, "bytes",
     "slope over the ends of the steady iterations; null = fewer than five"},
    {"growth_share", kReal, "ratio",
     "growth from the end of the first third of the steady iterations to the last one, relative to the "
     "former; null = unknown"},
    {"monotone", kInteger, "0 or 1",
     "1 = it never fell from the end of one steady iteration to the next; null = fewer than five"},
    {"reserved_bytes", kInteger, "bytes", "most that the pool reserved; null = another row"},
};
constexpr TableDeclaration kMemoryTable{
    "analysis_memory",
    "A tag or pool of memory, over the whole trace; growth is from iteration to iteration.", kMemoryColumns};
namespace {

struct Growth {
  SqlValue per_iteration, share, monotone;
};

double valueAt(const std::vector<CounterSample>& samples, TimeNs time_ns) {
  const auto after = std::partition_point(samples.begin(), samples.end(),
                                          [time_ns](const CounterSample& s) { return s.time_ns <= time_ns; });
  return after == samples.begin() ? 0 : (after - 1)->value;
}

// The value at the end of each steady iteration: the same phase of each. The first third contains the
// allocators' warm-up, so the share compares the end with the end of that third.
Growth growthOf(const std::vector<CounterSample>& samples, std::span<const Iteration> iterations) {
  std::vector<double> values;
  for (const auto& iteration : iterations) {
    if (iteration.role == IterationRole::steady && samples.front().time_ns <= iteration.end_ns)
      values.push_back(valueAt(samples, iteration.end_ns));
  }
  if (values.size() < 5) return {};
  const auto n = static_cast<double>(values.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  bool monotone = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<double>(i);
    x += at, y += values[i], xx += at * at, xy += at * values[i];
    if (i > 0) monotone = monotone && values[i] >= values[i - 1];
  }
  const double third = values[values.size() / 3];
  return {(n * xy - x * y) / (n * xx - x * x),
          third > 0 ? SqlValue((values.back() - third) / third) : SqlValue(),
          static_cast<std::int64_t>(monotone)};
}

}  // namespace

Status writeMemory(Trace& trace, const Context& context) {
  TempTable table(kMemoryTable);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind != TrackKind::counter || tracks[i].unit != "bytes") continue;
    const auto& name = tracks[i].name;
    const bool is_reserve = name.rfind("memory reserved: ", 0) == 0;
    const auto colon = name.find(": ");
    const bool is_live = name.rfind("memory live: ", 0) == 0 || name.rfind("memory allocated: ", 0) == 0 ||
                         name == "resident memory" || name == "gpu memory";
    if (!is_live && !is_reserve) continue;
    auto samples = PITWALL_TRY(trace.counters(TrackId{i + 1}));
    if (samples.empty()) continue;
    double peak = 0;
    for (const auto& sample : samples) peak = std::max(peak, sample.value);
    const std::string tag = colon == std::string::npos ? name : name.substr(colon + 2);
    const auto bytes = [](double value) { return static_cast<std::int64_t>(std::min(value, 9e18)); };
    const auto growth = growthOf(samples, context.iterations.all);
    const bool resident = colon == std::string::npos;
    if (is_reserve) {
      table.row({"reserved: " + tag, {}, {}, {}, {}, {}, bytes(peak)});
    } else {
      table.row({resident ? name : tag,
                 bytes(samples.back().value),
                 bytes(peak),
                 growth.per_iteration,
                 growth.share,
                 growth.monotone,
                 {}});
    }
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
