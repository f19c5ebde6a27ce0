#include "analyzer/compare.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analyzer/compare/aspects.h"
#include "analyzer/compare/decide.h"
#include "analyzer/compare/match_work.h"
#include "analyzer/compare/sides.h"

namespace pitwall {
namespace {

using comparing::RunTime;
using comparing::Side;
using Change = Comparison::Change;

constexpr double kWorthTesting = 0.002;  // of an iteration's time
constexpr double kError = 0.05;          // of a table's intervals together

double ofSide(const std::vector<RunTime>& runs) {
  const double mean = comparing::geometricMean(runs);
  if (mean > 0) return mean;
  std::vector<double> times;
  for (const RunTime& run : runs) times.push_back(run.ns);
  return comparing::medianOf(times);
}

// A line of a table with its times in each run.
struct Row {
  Change change;
  std::vector<RunTime> a, b;
};

// Bonferroni: each row takes its part of the error, so that a table of unchanged rows reports one in
// 5 % of comparisons at most. Rows that are small in both are not tested, which leaves more for the rest; the
// choice uses the larger of the two times, not at their difference.
std::vector<Change> tested(std::vector<Row> rows, const Comparison& out) {
  const double least = kWorthTesting * std::max(out.a_ns, out.b_ns);
  const auto isTested = [&](const Row& row) {
    return out.basis == Comparison::Basis::runs && std::max(row.change.a_ns, row.change.b_ns) >= least &&
           comparing::geometricMean(row.a) > 0 && comparing::geometricMean(row.b) > 0;
  };
  const auto count = std::count_if(rows.begin(), rows.end(), isTested);
  std::vector<Change> changes;
  for (Row& row : rows) {
    if (isTested(row)) {
      const auto decision = comparing::decide(row.a, row.b, kError / static_cast<double>(count));
      row.change.has_interval = true;
      row.change.low = decision.low;
      row.change.high = decision.high;
    }
    changes.push_back(std::move(row.change));
  }
  return changes;
}

Row rowOf(std::string name, std::vector<RunTime> a, std::vector<RunTime> b) {
  Row row{{std::move(name)}, std::move(a), std::move(b)};
  row.change.a_ns = ofSide(row.a);
  row.change.b_ns = ofSide(row.b);
  for (const auto* side : {&row.a, &row.b}) {
    const auto without =
        std::count_if(side->begin(), side->end(), [](const RunTime& run) { return run.ns <= 0; });
    row.change.in_some_runs |= without > 0 && without < static_cast<std::ptrdiff_t>(side->size());
  }
  return row;
}

void compareBreakdown(const Side& a, const Side& b, Comparison& out) {
  std::vector<std::string> categories;
  for (const Side* side : {&a, &b}) {
    for (const TimeShare& share : side->combined.shares) {
      if (std::find(categories.begin(), categories.end(), share.category) == categories.end())
        categories.push_back(share.category);
    }
  }
  std::vector<Row> rows;
  for (const std::string& name : categories)
    rows.push_back(
        rowOf(name, comparing::shareOf(a, name, out.by_item), comparing::shareOf(b, name, out.by_item)));
  out.breakdown = tested(std::move(rows), out);
}

// Number of executions, of the median run.
std::int64_t countOf(const Side& side, const std::string& name) {
  std::vector<double> counts;
  for (const Measured* run : side.runs) {
    const auto found = run->work.find(name);
    counts.push_back(found == run->work.end() ? 0 : static_cast<double>(found->second.count));
  }
  return std::llround(comparing::medianOf(counts));
}

void compareWork(const Side& a, const Side& b, const comparing::Matches& matches, Comparison& out) {
  const auto timesOf = [&](const Side& side, const std::string& name) {
    return name.empty() ? std::vector<RunTime>(side.runs.size()) : comparing::workOf(side, name, out.by_item);
  };
  std::vector<Row> rows;
  for (const auto& match : matches.all) {
    rows.push_back(rowOf(match.name, timesOf(a, match.a_name), timesOf(b, match.b_name)));
    rows.back().change.a_count = countOf(a, match.a_name);
    rows.back().change.b_count = countOf(b, match.b_name);
  }
  out.work = tested(std::move(rows), out);
  std::stable_sort(out.work.begin(), out.work.end(), [](const Change& left, const Change& right) {
    if (left.differs() != right.differs()) return left.differs();
    return std::fabs(left.b_ns - left.a_ns) > std::fabs(right.b_ns - right.a_ns);
  });
}

void compareSettings(const Measured& a, const Measured& b, Comparison& out) {
  std::set<std::string> names;
  for (const auto& [name, value] : a.settings) names.insert(name);
  for (const auto& [name, value] : b.settings) names.insert(name);
  const auto valueOf = [](const Measured& side, const std::string& name) {
    const auto found = side.settings.find(name);
    return found == side.settings.end() ? std::string() : found->second;
  };
  for (const std::string& name : names) {
    const std::string before = valueOf(a, name);
    const std::string after = valueOf(b, name);
    if (before != after) out.settings.push_back({name, before, after});
  }
}

std::vector<Comparison::Run> runsOf(const Side& side, const std::vector<RunTime>& times) {
  std::vector<Comparison::Run> runs;
  for (std::size_t i = 0; i < side.runs.size(); ++i)
    runs.push_back({side.runs[i]->path, times[i].ns, side.runs[i]->iterations_ns.size()});
  return runs;
}

std::size_t iterationsOf(const std::vector<Comparison::Run>& runs) {
  std::size_t count = 0;
  for (const auto& run : runs) count += run.iterations;
  return count;
}

// Without iterations a run's spread within is unknown, so that one run has nothing to widen the assumed one.
bool canDecide(const Comparison& out) {
  if (out.same_recording) return false;
  const auto enough = [](const std::vector<Comparison::Run>& runs, std::size_t least) {
    return std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return run.iterations >= least; });
  };
  if (std::min(out.a_runs.size(), out.b_runs.size()) >= comparing::kFewestRuns)
    return out.by_recording || (enough(out.a_runs, 1) && enough(out.b_runs, 1));
  return enough(out.a_runs, comparing::kFewestIterations) && enough(out.b_runs, comparing::kFewestIterations);
}

void compareTime(const Side& a, const Side& b, Comparison& out) {
  const auto of_a = comparing::timesOf(a, out.by_item, out.by_recording);
  const auto of_b = comparing::timesOf(b, out.by_item, out.by_recording);
  out.a_runs = runsOf(a, of_a);
  out.b_runs = runsOf(b, of_b);
  out.a_iterations = iterationsOf(out.a_runs);
  out.b_iterations = iterationsOf(out.b_runs);
  out.a_items = a.combined.items_per_iteration;
  out.b_items = b.combined.items_per_iteration;
  out.a_outliers = a.combined.outliers;
  out.b_outliers = b.combined.outliers;
  out.a_mean_ns = a.combined.mean_with_outliers_ns / comparing::itemsOf(a.combined, out.by_item);
  out.b_mean_ns = b.combined.mean_with_outliers_ns / comparing::itemsOf(b.combined, out.by_item);
  out.a_iteration_ns = ofSide(comparing::timesOf(a, false, false));
  out.b_iteration_ns = ofSide(comparing::timesOf(b, false, false));
  out.a_ns = ofSide(of_a);
  out.b_ns = ofSide(of_b);
  out.change = out.a_ns > 0 && out.b_ns > 0 ? out.b_ns / out.a_ns - 1 : 0;
  if (!canDecide(out)) return;
  const auto decision = comparing::decide(of_a, of_b);
  if (decision.basis == comparing::Basis::none) return;
  out.basis = decision.basis == comparing::Basis::runs ? Comparison::Basis::runs : Comparison::Basis::assumed;
  out.low = decision.low;
  out.high = decision.high;
  out.run_spread = decision.spread;
}

void compareFastest(const Side& a, const Side& b, Comparison& out) {
  if (out.basis != Comparison::Basis::runs || out.by_recording) return;
  const auto of_a = comparing::fastestOf(a, out.by_item), of_b = comparing::fastestOf(b, out.by_item);
  const auto decision = comparing::decide(of_a, of_b, comparing::kFastestAlpha);
  if (decision.basis != comparing::Basis::runs) return;
  out.fastest = {true,
                 comparing::geometricMean(of_a),
                 comparing::geometricMean(of_b),
                 decision.change,
                 decision.low,
                 decision.high,
                 decision.spread};
}

}  // namespace

const char* toString(Comparability comparability) {
  switch (comparability) {
    case Comparability::comparable: return "comparable";
    case Comparability::withReservations: return "comparable with reservations";
    case Comparability::notComparable: return "not comparable";
  }
  return "not comparable";
}

Comparison compare(std::span<const Measured> a_runs, std::span<const Measured> b_runs) {
  Comparison out;
  const Side a = comparing::sideOf(a_runs), b = comparing::sideOf(b_runs);
  out.a_path = a.combined.path;
  out.b_path = b.combined.path;
  const comparing::Matches matches = comparing::matchWork(a.combined, b.combined);
  out.aspects = comparing::aspectsOf(a, b, matches, out.by_item);
  for (const auto& aspect : out.aspects) out.verdict = std::max(out.verdict, aspect.verdict);

  const auto has_none = [](const Measured& run) { return run.iterations_ns.empty(); };
  out.by_recording = std::all_of(a_runs.begin(), a_runs.end(), has_none) &&
                     std::all_of(b_runs.begin(), b_runs.end(), has_none);
  out.same_recording =
      a_runs.size() == 1 && b_runs.size() == 1 && comparing::isSameRecording(a_runs.front(), b_runs.front());
  out.device_count = std::max(a.combined.device_count, b.combined.device_count);
  compareTime(a, b, out);
  compareFastest(a, b, out);
  if (out.by_recording || std::min(out.a_iterations, out.b_iterations) > 0) {
    compareBreakdown(a, b, out);
    compareWork(a, b, matches, out);
  }
  compareSettings(a.combined, b.combined, out);
  return out;
}

Comparison compare(const Measured& a, const Measured& b) {
  return compare(std::span(&a, 1), std::span(&b, 1));
}

std::vector<std::pair<std::size_t, std::size_t>> repeatedRecordings(std::span<const Measured> a,
                                                                    std::span<const Measured> b) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<const Measured*> all;
  for (const auto side : {a, b}) {
    for (const Measured& run : side) all.push_back(&run);
  }
  if (a.size() == 1 && b.size() == 1) return pairs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (comparing::isSameRecording(*all[i], *all[j])) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

RegressionCheck checkRegression(const Comparison& comparison, double share) {
  if (comparison.verdict == Comparability::notComparable) return RegressionCheck::notComparable;
  if (comparison.same_recording) return RegressionCheck::none;
  if (!comparison.hasInterval()) return RegressionCheck::notComparable;
  const auto& fastest = comparison.fastest;
  const bool typical_slower = comparison.change > share && comparison.low > 0;
  const bool fastest_slower = fastest.has_interval && fastest.change > share && fastest.low > 0;
  if (typical_slower || (fastest_slower && comparison.high > 0)) return RegressionCheck::regression;
  const bool unclear = comparison.change > share && comparison.basis == Comparison::Basis::assumed;
  return unclear ? RegressionCheck::undecided : RegressionCheck::none;
}

}  // namespace pitwall
