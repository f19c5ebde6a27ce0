// Two traces of one program: whether they can be compared, what changed and whether that is more than noise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"
#include "db/units.h"

namespace pitwall {

// One side, taken from an analyzed trace.
struct Measured {
  std::string path;
  bool complete = true;
  std::vector<std::string> devices;    // "gpu: NVIDIA H100", "cpu: ..."; sorted, with repetitions
  int world_size = 1;                  // ranks
  double items_per_iteration = 0;      // 0 = not told
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
  struct Change {
    std::string name;
    double a_ns = 0, b_ns = 0;  // of one iteration; of one item where the batches differ
    std::int64_t a_count = 0, b_count = 0;
  };
  struct SettingChange {
    std::string name, a, b;  // empty = not there
  };
  std::string a_path, b_path;
  Comparability verdict = Comparability::comparable;
  std::vector<Aspect> aspects;

  bool by_item = false;         // times are of one item, since the batches differ
  bool by_recording = false;    // times are of the whole recordings, since neither has iterations
  bool same_recording = false;  // both are one recording: nothing can differ
  int device_count = 0;         // over which the breakdown is summed
  std::size_t a_iterations = 0, b_iterations = 0;
  double a_items = 0, b_items = 0;                // of an iteration; 0 = not told
  double a_iteration_ns = 0, b_iteration_ns = 0;  // median of an iteration, of whatever batch
  double a_ns = 0, b_ns = 0;                      // median of an iteration (or item)
  std::int64_t a_outliers = 0, b_outliers = 0;    // which the medians leave out
  double a_mean_ns = 0, b_mean_ns = 0;            // of an iteration (or item), with outliers
  // Change of the median, b over a minus 1, with a 95 % interval; without one when a side has fewer than five
  // iterations, and for one recording twice.
  double change = 0;
  bool has_interval = false;
  double low = 0, high = 0;
  bool isSignificant() const { return has_interval && (low > 0 || high < 0); }

  std::vector<Change> breakdown;  // categories in the order of a
  std::vector<Change> work;       // by size of the change, greatest first; all
  std::vector<SettingChange> settings;
};

Comparison compare(const Measured& a, const Measured& b);

// Whether b is slower than a by more than `share`, and the interval excludes that it is not slower at all.
// Without an interval nothing is known, and the answer is no.
bool isRegression(const Comparison& comparison, double share);

}  // namespace pitwall
