// Runs of a program before and after a change: whether they can be compared, what changed, and whether that
// is more than run-to-run variation.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall {

// One run, taken from an analyzed trace.
struct Measured {
  std::string path;
  bool complete = true;
  bool serialised_kernels = false;     // to count them in hardware: the times mean nothing
  std::int64_t start_unix_ns = 0;      // when it was recorded; 0 = unknown
  std::vector<std::string> devices;    // "gpu: NVIDIA H100", "cpu: ..."; sorted, with repetitions
  int world_size = 1;                  // ranks
  double items_per_iteration = 0;      // 0 = unknown
  std::vector<double> iterations_ns;   // steady ones; empty where nothing repeats or too few are steady
  std::int64_t outliers = 0;           // iterations that the steady ones leave out, warm-up and last apart
  double mean_with_outliers_ns = 0;    // of steady ones and outliers; 0 = there are none
  double whole_ns = 0;                 // of the recording, where there are none
  int device_count = 0;                // over which the shares are summed; 0 = of the program's wall time
  std::int64_t steady_iterations = 1;  // that the sums below are over, at least 1
  std::vector<TimeShare> shares;
  struct Work {
    std::int64_t count = 0;
    double total_ns = 0;
    std::string operation = {},
                shapes = {};  // of an operator: layer, type and phase; shapes. Of kernels empty
  };
  std::map<std::string, Work> work;             // operators and kernels by name, layer, phase and shapes
  std::map<std::string, std::string> settings;  // in effect, with tunables and versions of libraries
};

// The trace's analyses must have run on this Trace (analyzeTrace). Errors: those of Trace::query.
Result<Measured> measure(Trace& trace, const Report& report);

enum class Comparability : std::uint8_t { comparable, withReservations, notComparable };
const char* toString(Comparability comparability);  // "comparable", ...

struct Comparison {
  struct Aspect {
    std::string name;  // "devices", "world size", ...
    std::string a, b;
    Comparability verdict = Comparability::comparable;
    std::string remark;
  };
  // Times are geometric means over the runs of a side; medians where some runs have none of the kind.
  struct Change {
    std::string name;
    double a_ns = 0, b_ns = 0;  // of one iteration; of one item where the batches differ
    std::int64_t a_count = 0, b_count = 0;
    // Of the change, b over a minus 1. The intervals of all tested rows of a table hold together with 95 %
    // (each has 5 % / rows of error). Only with three runs a side, and for rows of 0.2 % of the time or more.
    bool has_interval = false;
    double low = 0, high = 0;
    bool in_some_runs = false;  // of a side, and not in others of it
    bool differs() const { return has_interval && (low > 0 || high < 0); }
  };
  struct SettingChange {
    std::string name, a, b;  // empty = not there
  };
  struct Run {
    std::string path;
    double ns = 0;  // median of its iterations (or items), or the whole
    std::size_t iterations = 0;
  };
  // What the interval of the change rests on.
  enum class Basis : std::uint8_t {
    none,     // there is no interval: too few iterations, whole recordings, or one recording twice
    assumed,  // fewer than three runs on a side: an assumed spread between runs, widened by what was measured
    runs,     // the spread between the runs of each side
  };
  std::string a_path, b_path;  // of the first runs
  Comparability verdict = Comparability::comparable;
  std::vector<Aspect> aspects;

  bool by_item = false;         // times are of one item, since the batches differ
  bool by_recording = false;    // times are of the whole recordings, since none has iterations
  bool same_recording = false;  // both are one recording: nothing can differ
  int device_count = 0;         // over which the breakdown is summed
  std::vector<Run> a_runs, b_runs;
  std::size_t a_iterations = 0, b_iterations = 0;  // of all runs
  double a_items = 0, b_items = 0;                 // of an iteration; 0 = unknown
  double a_iteration_ns = 0, b_iteration_ns = 0;   // of an iteration, of whatever batch, as a_ns
  double a_ns = 0, b_ns = 0;  // geometric mean of the runs' medians, of an iteration (or item)
  std::int64_t a_outliers = 0, b_outliers = 0;  // of all runs, which the medians leave out
  double a_mean_ns = 0, b_mean_ns = 0;          // of an iteration (or item), with outliers
  double change = 0;                            // b over a, minus 1
  Basis basis = Basis::none;
  double low = 0, high = 0;  // 97 % interval of the change, over other runs of the same programs
  double run_spread = 0;     // standard deviation between runs that the interval rests on, relative
  bool hasInterval() const { return basis != Basis::none; }
  bool isSignificant() const { return hasInterval() && (low > 0 || high < 0); }

  // The same of the fastest tenth of each run's iterations (the 10th percentile). What other programs or the hypervisor
  // take slows a part of a run's iterations, so that medians vary more between runs than these do. With three
  // runs a side, of 20 iterations each or more.
  struct Fastest {
    bool has_interval = false;
    double a_ns = 0, b_ns = 0, change = 0;
    double low = 0, high = 0;  // 99 % interval
    double run_spread = 0;
    bool differs() const { return has_interval && (low > 0 || high < 0); }
  };
  Fastest fastest;

  std::vector<Change> breakdown;  // categories in the order of a
  std::vector<Change> work;       // those that differ first, then by size of the change, greatest first; all
  std::vector<SettingChange> settings;
};

// Neither side may be empty.
Comparison compare(std::span<const Measured> a, std::span<const Measured> b);
Comparison compare(const Measured& a, const Measured& b);

// Pairs of runs, counted from 0 and a's before b's, that are one recording: a run counts once. One recording
// on both sides, alone on each, is no such pair.
std::vector<std::pair<std::size_t, std::size_t>> repeatedRecordings(std::span<const Measured> a,
                                                                    std::span<const Measured> b);

// Whether b is slower than a by more than a share of a's time.
enum class RegressionCheck : std::uint8_t {
  none,           // not shown to be slower
  regression,     // slower by more than the share, and by more than run-to-run variation explains
  undecided,      // slower by more than the share in figures that too few runs support
  notComparable,  // nothing is known
};
RegressionCheck checkRegression(const Comparison& comparison, double share);

}  // namespace pitwall
