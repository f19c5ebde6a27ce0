#include "analyzer/analysis/batch_trials.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

constexpr Column kBatchColumns[] = {
    {"batch", kInteger, "count", "items of a batch"},
    {"is_measured", kInteger, "0 or 1", "1 = of a trace; 0 = predicted"},
    {"iteration_ns", kReal, "ns", "time of an iteration: the median of the steady ones, or as predicted"},
    {"low_ns", kReal, "ns", "lower end of its interval: 5 % below a measured time"},
    {"high_ns", kReal, "ns", "upper end of its interval: 5 % above a measured time"},
    {"slower", kText, "",
     "operator that costs most more for an item than with the trace's batch; empty = none does"},
    {"slower_ns", kReal, "ns", "what that operator costs more for an item; 0 = none does"},
};
constexpr TableDeclaration kBatchTable{
    "analysis_batch",
    "A batch size with the time of an iteration: the trace's own, those of --trial, and what a line through "
    "each operator's times predicts from three tried ones on.",
    kBatchColumns};

namespace {

constexpr std::size_t kLeastTrials = 3;  // of a line whose residuals show how well it fits
constexpr double kRunToRun = 0.05;

struct Line {
  double fixed = 0, each = 0, deviation = 0;
  double at(double batch) const { return fixed + each * batch; }
};

double squares(const Line& line, std::span<const std::pair<double, double>> points) {
  double sum = 0;
  for (const auto& [x, y] : points) sum += (y - line.at(x)) * (y - line.at(x));
  return sum;
}

// Least squares; where the best line has a part below 0, the best one without that part.
Line fit(std::span<const std::pair<double, double>> points, bool bounded) {
  const auto n = static_cast<double>(points.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [x, y] : points) sx += x, sy += y, sxx += x * x, sxy += x * y;
  Line line;
  const double spread = n * sxx - sx * sx;
  line.each = spread > 0 ? (n * sxy - sx * sy) / spread : 0;
  line.fixed = (sy - line.each * sx) / n;
  if (bounded && line.each < 0) line.each = 0, line.fixed = sy / n;
  if (bounded && line.fixed < 0) line.fixed = 0, line.each = sxx > 0 ? sxy / sxx : 0;
  line.deviation = std::sqrt(squares(line, points) / std::max(1.0, n - 2));
  return line;
}

using Points = std::vector<std::pair<double, double>>;

// By operator; the rest of an iteration under "".
std::map<std::string, Points> pointsOf(std::span<const BatchTrial> trials) {
  std::set<std::string> names;
  for (const auto& trial : trials) {
    for (const auto& [name, ns] : trial.operator_ns) names.insert(name);
  }
  std::map<std::string, Points> points;
  for (const auto& trial : trials) {
    double rest = trial.iteration_ns;
    for (const auto& name : names) {
      const auto found = trial.operator_ns.find(name);
      const double ns = found == trial.operator_ns.end() ? 0 : found->second;
      points[name].emplace_back(static_cast<double>(trial.batch), ns);
      rest -= ns;
    }
    points[""].emplace_back(static_cast<double>(trial.batch), rest);
  }
  return points;
}

// The operator whose time per item grows most from the first batch to the other.
void nameSlower(const BatchTrial& first, const BatchTrial& other, BatchTime& time) {
  for (const auto& [name, ns] : other.operator_ns) {
    const auto before = first.operator_ns.find(name);
    if (before == first.operator_ns.end()) continue;
    const double more =
        ns / static_cast<double>(other.batch) - before->second / static_cast<double>(first.batch);
    if (more > time.slower_ns) time.slower_ns = more, time.slower = name;
  }
}

BatchTime predicted(std::int64_t batch, const std::map<std::string, Points>& points) {
  BatchTime time;
  time.batch = batch;
  double deviation = 0;
  for (const auto& [name, all] : points) {
    const Line line = fit(all, !name.empty());
    time.iteration_ns += line.at(static_cast<double>(batch));
    deviation += line.deviation;
  }
  const double reach = 2 * deviation + kRunToRun * time.iteration_ns;
  time.low_ns = std::max(0.0, time.iteration_ns - reach);
  time.high_ns = time.iteration_ns + reach;
  return time;
}

}  // namespace

std::int64_t batchOf(const Trace& trace) {
  for (const auto& tunable : trace.tunables()) {
    if (tunable.name == "batch_size") return tunable.value;
  }
  return 0;
}

std::int64_t batchOf(const Trace& trace, const Iterations& iterations) {
  if (const auto batch = batchOf(trace); batch > 0) return batch;
  std::int64_t items = 0, count = 0;
  for (const auto& iteration : iterations.all) {
    if (iteration.role != IterationRole::steady) continue;
    items += iteration.items;
    ++count;
  }
  return count > 0 ? items / count / std::max<std::int64_t>(1, iterations.repetitions) : 0;
}

BatchTrial batchTrial(std::int64_t batch, const Breakdown& breakdown,
                      std::span<const OperatorRow> operators) {
  BatchTrial trial{batch, static_cast<double>(breakdown.median_iteration_ns), {}};
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, breakdown.iterations));
  for (const auto& row : operators)
    trial.operator_ns[row.title + " " + row.phase] += static_cast<double>(row.self_ns) / iterations;
  return trial;
}

std::vector<BatchTime> batchTimes(std::vector<BatchTrial> trials) {
  std::vector<BatchTime> times;
  if (trials.empty()) return times;
  const BatchTrial first = trials.front();
  // Of several trials with one batch the fastest counts, as for numbers of threads.
  std::stable_sort(trials.begin(), trials.end(), [](const BatchTrial& a, const BatchTrial& b) {
    return std::pair(a.batch, a.iteration_ns) < std::pair(b.batch, b.iteration_ns);
  });
  const auto same = [](const BatchTrial& a, const BatchTrial& b) { return a.batch == b.batch; };
  trials.erase(std::unique(trials.begin(), trials.end(), same), trials.end());
  std::set<std::int64_t> tried;
  for (const auto& trial : trials) {
    BatchTime time;
    time.batch = trial.batch;
    time.is_measured = true;
    time.iteration_ns = trial.iteration_ns;
    time.low_ns = (1 - kRunToRun) * trial.iteration_ns;
    time.high_ns = (1 + kRunToRun) * trial.iteration_ns;
    nameSlower(first, trial, time);
    times.push_back(time);
    tried.insert(trial.batch);
  }
  if (trials.size() < kLeastTrials) return times;
  const auto points = pointsOf(trials);
  const std::int64_t furthest = 2 * *tried.rbegin();
  for (const std::int64_t batch : {2 * first.batch, 4 * first.batch, furthest}) {
    if (batch <= furthest && tried.insert(batch).second) times.push_back(predicted(batch, points));
  }
  return times;
}

Status writeBatchTimes(Trace& trace, std::span<const BatchTime> times) {
  TempTable table(kBatchTable);
  for (const auto& time : times) {
    table.row({time.batch, static_cast<std::int64_t>(time.is_measured), time.iteration_ns, time.low_ns,
               time.high_ns, time.slower, time.slower_ns});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
