#include "analyzer/analysis/iterations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/analysis/statistics.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kWarmUp = 2;
constexpr double kOutlierDeviations = 5;
constexpr double kOutlierRatio = 1.5;
constexpr double kRunAheadShare = 0.5;
// Outliers that are at least so many, and take at least this share of the time, belong to the program's
// normal work; fewer only where they take most of the time.
constexpr std::int64_t kRecurring = 3;
constexpr double kLargeShare = 0.1;
constexpr double kMostShare = 0.5;
// Outliers are regular if they are at least so many, and this share of the distances between them is the
// same.
constexpr std::int64_t kFewestRegular = 4;
constexpr double kRegular = 0.8;

std::vector<Iteration> fromMarks(const Timeline& timeline, std::span<const IterationMark> marks) {
  std::vector<Iteration> result;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool open = i + 1 == marks.size();
    const TimeNs end = open ? std::max(timeline.end_ns, marks[i].time_ns) : marks[i + 1].time_ns;
    if (end <= marks[i].time_ns) continue;
    result.push_back({marks[i].index, marks[i].time_ns, end, marks[i].items,
                      open ? IterationRole::last : IterationRole::steady});
  }
  return result;
}

// More operator time after the last mark than half of all: the marks do not bound the work.
bool runsAhead(const Timeline& timeline, std::span<const IterationMark> marks) {
  if (marks.size() < 4) return false;
  return static_cast<double>(timeline.operator_after_marks_ns) >
         kRunAheadShare * static_cast<double>(timeline.operator_ns);
}

std::int64_t commonItems(std::span<const IterationMark> marks) {
  if (marks.empty()) return 0;
  const std::int64_t items = marks.front().items;
  const auto differs = [items](const IterationMark& mark) { return mark.items != items; };
  const auto different = std::count_if(marks.begin(), marks.end(), differs);
  return different * 10 <= static_cast<std::ptrdiff_t>(marks.size()) ? items : 0;
}

TimeNs durationOf(const Iteration& iteration) { return iteration.end_ns - iteration.start_ns; }

// Outliers are left out of the sums, unless they are a large part of the program's work.
void separateOutliers(std::vector<Iteration>& iterations, double median) {
  std::int64_t recurring = 0;
  double outlying_ns = 0, all_ns = 0;
  for (const auto& iteration : iterations) {
    if (iteration.role != IterationRole::steady) continue;
    const auto duration = static_cast<double>(durationOf(iteration));
    all_ns += duration;
    if (!iteration.is_outlier || duration < median) continue;
    outlying_ns += duration;
    ++recurring;
  }
  if (outlying_ns >= (recurring >= kRecurring ? kLargeShare : kMostShare) * all_ns) return;
  for (auto& iteration : iterations) {
    if (iteration.is_outlier) iteration.role = IterationRole::outlier;
  }
}

// A single repeated call, not a loop of several.
constexpr std::int64_t kLongestCall = 2;

void addNote(Iterations& iterations, const std::string& sentence) {
  iterations.note += (iterations.note.empty() ? "" : " ") + sentence;
}

// Between the starts; a last one up to the trace's end.
void addBetween(const Timeline& timeline, std::span<const TimeNs> starts, std::int64_t items,
                std::vector<Iteration>& all) {
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const TimeNs end = i + 1 < starts.size() ? starts[i + 1] : timeline.end_ns;
    if (end > starts[i]) all.push_back({static_cast<std::int64_t>(i), starts[i], end, items});
  }
}

Status addRepetitions(const Timeline& timeline, const SequenceFinder& repetition, std::int64_t items,
                      Iterations& result) {
  const RepeatingSequence sequence = PITWALL_TRY(repetition());
  if (sequence.starts.empty()) return {};
  result.source = "repeating sequence";
  result.repetitions = sequence.repetitions;
  addBetween(timeline, sequence.starts, items * sequence.repetitions, result.all);
  assignRoles(result.all, sequence.period <= kLongestCall ? Outliers::kept : Outliers::apart);
  if (sequence.repetitions > 1) {
    addNote(result,
            fmt::format("The sequence of {} operator{} repeats too often to separate each repetition: "
                        "{} repetitions together are called an iteration.",
                        sequence.period, sequence.period == 1 ? "" : "s", sequence.repetitions));
  }
  return {};
}

}  // namespace

const char* toString(IterationRole role) {
  switch (role) {
    case IterationRole::steady: return "steady";
    case IterationRole::warmUp: return "warm-up";
    case IterationRole::last: return "last";
    case IterationRole::outlier: return "outlier";
  }
  return "steady";
}

void assignRoles(std::vector<Iteration>& iterations, Outliers outliers) {
  if (iterations.size() < 2) return;
  for (auto& iteration : iterations) iteration.role = IterationRole::steady;
  for (std::size_t i = 0; i < std::min(kWarmUp, iterations.size()); ++i) {
    iterations[i].role = IterationRole::warmUp;
  }
  iterations.back().role = IterationRole::last;
  if (outliers == Outliers::kept) return;

  std::vector<double> durations;
  for (const auto& iteration : iterations) {
    if (iteration.role == IterationRole::steady) {
      durations.push_back(static_cast<double>(durationOf(iteration)));
    }
  }
  if (durations.size() < 5) return;  // too few to call one an outlier
  const double median = quantile(durations, 0.5);
  for (auto& duration : durations) duration = std::fabs(duration - median);
  const double scaled_deviation = 1.4826 * quantile(durations, 0.5);
  const double reach = std::max(kOutlierDeviations * scaled_deviation, (kOutlierRatio - 1) * median);
  for (auto& iteration : iterations) {
    const auto duration = static_cast<double>(durationOf(iteration));
    iteration.is_outlier = iteration.role == IterationRole::steady && std::fabs(duration - median) > reach;
  }
  separateOutliers(iterations, median);
}

std::int64_t outlierPeriod(std::span<const Iteration> iterations) {
  std::vector<double> usual;
  for (const auto& iteration : iterations) {
    if (iteration.role == IterationRole::steady && !iteration.is_outlier)
      usual.push_back(static_cast<double>(durationOf(iteration)));
  }
  const double median = quantile(usual, 0.5);
  std::vector<std::int64_t> distances;
  std::int64_t last = -1;
  bool within = false;  // a run of them
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const bool is_long = iterations[i].is_outlier && static_cast<double>(durationOf(iterations[i])) > median;
    const auto at = static_cast<std::int64_t>(i);
    if (is_long && !within && last >= 0) distances.push_back(at - last);
    if (is_long && !within) last = at;
    within = is_long;
  }
  if (static_cast<std::int64_t>(distances.size()) + 1 < kFewestRegular) return 0;
  std::sort(distances.begin(), distances.end());
  const std::int64_t common = distances[distances.size() / 2];
  const auto same = std::count(distances.begin(), distances.end(), common);
  return static_cast<double>(same) >= kRegular * static_cast<double>(distances.size()) ? common : 0;
}

Result<Iterations> findIterations(const Timeline& timeline, std::span<const IterationMark> marks,
                                  const SequenceFinder& repetition) {
  Iterations result;
  const bool ahead = runsAhead(timeline, marks);
  if (!marks.empty() && !ahead) {
    result.source = "marks";
    result.all = fromMarks(timeline, marks);
    assignRoles(result.all);
  }
  if (result.all.empty() && timeline.step_starts.size() >= 3) {
    result.source = "step ranges";
    addBetween(timeline, timeline.step_starts, commonItems(marks), result.all);
    assignRoles(result.all);
  } else if (result.all.empty()) {
    PITWALL_TRY(addRepetitions(timeline, repetition, commonItems(marks), result));
  }
  if (ahead && !result.all.empty()) {
    addNote(result, fmt::format("The program runs ahead of the engine: most operators ran after its last "
                                "iteration mark. Iterations are taken from the {} instead.",
                                result.source));
  }
  if (result.all.empty()) {
    result.source = "whole trace";
    if (timeline.end_ns > timeline.begin_ns) result.all.push_back({0, timeline.begin_ns, timeline.end_ns});
  }
  return result;
}

}  // namespace pitwall::analysis
