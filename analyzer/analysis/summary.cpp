#include "analyzer/analysis/summary.h"

#include <algorithm>
#include <charconv>

#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/roofline.h"
#include "db/machine.h"
#include "db/meta.h"
#include "db/sql_value.h"

namespace pitwall::analysis {
namespace {

// Numbers as numbers, so that rules can compare them; everything else as text.
SqlValue typed(const std::string& text) {
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end) {
    return integer;
  }
  double real = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, real); error == std::errc() && stop == end) {
    return real;
  }
  return text;
}

struct MetaFact {
  const char* column;
  const char* key;
};

constexpr MetaFact kMetaFacts[] = {
    {"usable_cpus", meta::kUsableCpus},
    {"usable_cores", meta::kUsableCores},
    {"logical_cpus", meta::kLogicalCpus},
    {"physical_cores", meta::kPhysicalCores},
    {"memory_bytes", meta::kMemoryBytes},
    {"l2_cache_bytes", meta::kL2CacheBytes},
    {"l3_cache_bytes", meta::kL3CacheBytes},
    {"blas", meta::kBlas},
    {"openmp_runtime", meta::kOpenMpRuntime},
    {"openmp_threads", meta::kOpenMpThreads},
    {"backend", meta::kBackend},
    {"engine", meta::kEngine},
    {"parameter_bytes", meta::kModelBytes},
    {"peak_bytes", meta::kPeakBytes},
    {"mode", meta::kMode},
    {"producer", meta::kProducer},
};

void addIterationFacts(const Iterations& iterations, const Breakdown& breakdown, std::vector<Fact>& facts) {
  std::int64_t steady = 0, outliers = 0, items = 0;
  std::vector<double> durations, usual;
  for (const auto& iteration : iterations.all) {
    outliers += iteration.is_outlier;
    if (iteration.role != IterationRole::steady) continue;
    ++steady;
    items += iteration.items;
    durations.push_back(static_cast<double>(iteration.end_ns - iteration.start_ns));
    if (!iteration.is_outlier) usual.push_back(durations.back());
  }
  const bool repeats = iterations.source != "whole trace";
  facts.push_back({"iteration_source", iterations.source});
  facts.push_back({"repetitions_per_iteration", iterations.repetitions});
  facts.push_back({"iterations", static_cast<std::int64_t>(iterations.all.size())});
  facts.push_back({"steady_iterations", repeats ? steady : std::int64_t{0}});
  facts.push_back({"outlier_iterations", outliers});
  const auto period = outlierPeriod(iterations.all);
  facts.push_back({"outlier_period", period > 0 ? SqlValue(period) : SqlValue()});
  facts.push_back({"wall_ns", breakdown.wall_ns});
  facts.push_back({"iteration_median_ns", breakdown.median_iteration_ns});
  facts.push_back({"iteration_mean_ns", mean(durations)});
  facts.push_back({"iteration_p90_ns", quantile(durations, 0.9)});
  facts.push_back({"iteration_cov", coefficientOfVariation(usual)});
  const bool known = steady > 0 && items > 0;
  facts.push_back({"items_per_iteration", known ? SqlValue(items / steady) : SqlValue()});
  facts.push_back({"items_per_second",
                   breakdown.items_per_second > 0 ? SqlValue(breakdown.items_per_second) : SqlValue()});
}

// Whether the trace could have shown time of the category. Time between operators has a name only where every
// operator was recorded.
bool couldBeSeen(Category category, const Timeline& timeline, const Breakdown& breakdown) {
  const bool sees_calls = timeline.operators > 0 || breakdown.devices > 0;
  const bool sees_all = sees_calls && !timeline.library_calls_only;
  switch (category) {
    case Category::unattributed: return true;
    case Category::dataWait: return sees_all || !timeline.data_waits.empty();
    case Category::idle:
    case Category::engineOverhead: return sees_all;
    default: return sees_calls;
  }
}

void addShareFacts(const Timeline& timeline, const Breakdown& breakdown, std::vector<Fact>& facts) {
  double operators = 0;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const auto category = static_cast<Category>(c);
    const double share = breakdown.share(toString(category));
    std::string key = std::string(toString(category)) + "_share";
    std::replace(key.begin(), key.end(), ' ', '_');
    facts.push_back({key, known(couldBeSeen(category, timeline, breakdown), share)});
    if (category <= Category::otherOperators) operators += share;
  }
  facts.push_back({"operators_share", known(couldBeSeen(Category::forward, timeline, breakdown), operators)});
}

// The coverage of the process that the trace describes.
void addCoverageFacts(const Timeline& timeline, const Coverage& coverage, std::vector<Fact>& facts) {
  facts.push_back({"coverage", coverage.level(timeline.process)});
  for (std::size_t i = 0; i < kRecordedKinds; ++i) {
    const auto what = static_cast<Recorded>(i);
    std::string key = "has_" + std::string(toString(what));
    std::replace(key.begin(), key.end(), ' ', '_');
    facts.push_back({key, static_cast<std::int64_t>(coverage.has(timeline.process, what))});
  }
  facts.push_back({"logged_library", coverage.libraryOf(timeline.process)});
}

void addOperatorFacts(const Timeline& timeline, const Breakdown& breakdown, const OperatorTable& operators,
                      std::vector<Fact>& facts) {
  std::int64_t executions = 0;
  for (const auto& statistics : operators.rows) executions += statistics.row.count;
  TimeNs busy_ns = 0;
  for (std::size_t c = 0; c <= static_cast<std::size_t>(Category::otherOperators); ++c) {
    busy_ns += breakdown.shares[c].total_ns;
  }
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, breakdown.iterations));
  const bool any = busy_ns > 0;
  facts.push_back({"operators_per_iteration", static_cast<double>(executions) / iterations});
  facts.push_back({"operator_total_ns", operators.total_ns});
  facts.push_back(
      {"operator_concurrency",
       any ? SqlValue(static_cast<double>(operators.total_ns) / static_cast<double>(busy_ns)) : SqlValue()});
  facts.push_back({"operator_tracks", static_cast<std::int64_t>(timeline.operator_tracks)});
}

// The time that the recorder gives is that of the whole recording, of which the events may be a part.
SqlValue recorderShare(const Trace& trace, const Timeline& timeline) {
  const auto number = [&](const char* key) -> TimeNs {
    const auto text = trace.meta(key);
    return text ? integerOf(typed(*text)) : 0;
  };
  TimeNs span = timeline.end_ns - timeline.begin_ns, recorder = timeline.recorder_ns;
  if (const TimeNs self = number(meta::kRecorderSelfNs); self > 0) {
    recorder = self;
    span = std::max(span, number(meta::kTraceEndNs));
  }
  if (span <= 0) return {};
  return static_cast<double>(recorder) / static_cast<double>(span);
}

}  // namespace

std::vector<Fact> summarize(const Trace& trace, const Timeline& timeline, const Iterations& iterations,
                            const Breakdown& breakdown, const OperatorTable& operators,
                            const Coverage& coverage) {
  std::vector<Fact> facts;
  addIterationFacts(iterations, breakdown, facts);
  addCoverageFacts(timeline, coverage, facts);
  addShareFacts(timeline, breakdown, facts);
  addOperatorFacts(timeline, breakdown, operators, facts);

  facts.push_back({"recorded_ns", timeline.end_ns - timeline.begin_ns});
  facts.push_back({"recorder_share", recorderShare(trace, timeline)});
  facts.push_back({"lost_events", timeline.lost_events});
  facts.push_back({"losses", static_cast<std::int64_t>(trace.losses().size())});
  facts.push_back({"trace_complete", static_cast<std::int64_t>(trace.isComplete())});
  const auto roofline = machineRoofline(trace);
  facts.push_back({"roof_flop_per_second",
                   roofline.flop_per_second > 0 ? SqlValue(roofline.flop_per_second) : SqlValue()});
  facts.push_back({"roof_bytes_per_second",
                   roofline.bytes_per_second > 0 ? SqlValue(roofline.bytes_per_second) : SqlValue()});
  for (const auto& [column, key] : kMetaFacts) {
    const auto value = trace.meta(key);
    facts.push_back({column, value ? typed(*value) : SqlValue()});
  }
  return facts;
}

}  // namespace pitwall::analysis
