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
     "slope of the least value in each steady iteration; null = fewer than five"},
    {"growth_share", kReal, "ratio",
     "growth of the least value from the end of the first third of the steady iterations to the last one, "
     "relative to the former; null = unknown"},
    {"monotone", kInteger, "0 or 1",
     "1 = the least value never fell from one steady iteration to the next; null = fewer than five"},
    {"rising_iterations", kInteger, "count",
     "iterations after the first third whose least value is above the previous one's; null = fewer than "
     "five"},
    {"largest_step", kReal, "ratio",
     "share of the growth after the first third that is between two iterations; null = no growth"},
    {"late_growth", kReal, "ratio",
     "share of the growth after the first third that is in the last third; null = no growth"},
    {"reserved_bytes", kInteger, "bytes", "most that the pool reserved; null = another row"},
};
constexpr TableDeclaration kMemoryTable{
    "analysis_memory",
    "A tag or pool of memory, over the whole trace; growth is from iteration to iteration.", kMemoryColumns};
namespace {

constexpr std::size_t kFewest = 5;  // iterations, for a slope

struct Growth {
  SqlValue per_iteration, share, monotone, rising, largest_step, late;
};

// Of each steady iteration the least value while it ran. What an asynchronous program has allocated when an
// iteration ends depends on how far its operators have come; memory that is never freed raises the least value too.
std::vector<double> leastValues(const std::vector<CounterSample>& samples,
                                std::span<const Iteration> iterations) {
  std::vector<double> values;
  for (const Iteration& iteration : iterations) {
    if (iteration.role != IterationRole::steady || samples.front().time_ns > iteration.end_ns) continue;
    auto at = std::ranges::upper_bound(samples, iteration.start_ns, {}, &CounterSample::time_ns);
    double least = at == samples.begin() ? 0 : (at - 1)->value;
    for (; at != samples.end() && at->time_ns <= iteration.end_ns; ++at) least = std::min(least, at->value);
    values.push_back(least);
  }
  return values;
}

// The first third contains the allocators' warm-up, so the share compares the end with the end of that third.
Growth growthOf(const std::vector<double>& values) {
  if (values.size() < kFewest) return {};
  const auto n = static_cast<double>(values.size());
  const std::size_t third = values.size() / 3, last_third = values.size() - 1 - third;
  const double before = values[third], growth = values.back() - before;
  double x = 0, y = 0, xx = 0, xy = 0, largest = 0;
  std::int64_t rising = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<double>(i);
    x += at, y += values[i], xx += at * at, xy += at * values[i];
    if (i <= third) continue;
    const double step = values[i] - values[i - 1];
    rising += step > 0;
    largest = std::max(largest, step);
  }
  return {(n * xy - x * y) / (n * xx - x * x),
          before > 0 ? SqlValue(growth / before) : SqlValue(),
          static_cast<std::int64_t>(std::ranges::is_sorted(values)),
          rising,
          growth > 0 ? SqlValue(largest / growth) : SqlValue(),
          growth > 0 ? SqlValue((values.back() - values[last_third]) / growth) : SqlValue()};
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
    const auto growth = growthOf(leastValues(samples, context.iterations.all));
    const bool resident = colon == std::string::npos;
    if (is_reserve) {
      table.row({"reserved: " + tag, {}, {}, {}, {}, {}, {}, {}, {}, bytes(peak)});
    } else {
      table.row({resident ? name : tag,
                 bytes(samples.back().value),
                 bytes(peak),
                 growth.per_iteration,
                 growth.share,
                 growth.monotone,
                 growth.rising,
                 growth.largest_step,
                 growth.late,
                 {}});
    }
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
