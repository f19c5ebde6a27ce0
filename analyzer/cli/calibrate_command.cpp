#include "analyzer/cli/calibrate_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "analyzer/record/calibrate/roofline_loops.h"
#include "db/machine.h"
#include "db/meta.h"
#include "db/usable_cpus.h"

namespace pitwall::cli {
namespace {

// 1, 2, 4, ... and all of them.
std::vector<int> teamSizes(int cpus) {
  std::vector<int> sizes;
  for (int n = 1; n < cpus; n *= 2) sizes.push_back(n);
  sizes.push_back(cpus);
  return sizes;
}

std::string plural(int count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void row(const std::string& what, double value, const char* unit) {
  print("  {:<44} {:>9.{}f} {}\n", what, value, value < 100 ? 1 : 0, unit);
}

}  // namespace

int calibrate() {
  const std::string model = cpuModel(), path = rooflinePath(model);
  if (path.empty())
    return reportError("there is no folder for the roofline: set HOME or XDG_CACHE_HOME to an absolute path",
                       kUsage);
  // The existing values are written again first, so that an error is reported before the measurements.
  if (auto status = saveRoofline(path, readRoofline(path)); !status.has_value())
    return reportError(status.error().message, kUsage);
  record::RooflineEffort effort;
  // Three arrays of it are several times the last cache.
  if (const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE); cache > 0)
    effort.array_bytes = std::clamp<std::size_t>(2 * static_cast<std::size_t>(cache), effort.array_bytes,
                                                 std::size_t{128} << 20);
  const auto cpus = host::affinityCpus();
  const auto count = static_cast<int>(cpus.size());
  MachineFacts roofline;
  const auto note = [&roofline](const std::string& key, double value) {
    roofline[key] = fmt::format("{:.6g}", value);
  };

  print("The roofline of this machine, {}:\n", plural(count, "usable CPU"));
  if (!model.empty()) print("  {}\n", model);
  roofline[meta::kRooflineCpus] = std::to_string(count);
  const double one = record::peakFlopPerSecond({cpus.front()}, effort);
  note(meta::kRooflineFlopOne, one);
  row("float32 multiply-adds, 1 CPU", one * 1e-9, "GFLOP/s");
  const double all = count == 1 ? one : record::peakFlopPerSecond(cpus, effort);
  note(meta::kRooflineFlop, all);
  if (count > 1) row("float32 multiply-adds, " + plural(count, "CPU"), all * 1e-9, "GFLOP/s");
  const auto memory = record::memoryRates(cpus, effort);
  note(meta::kRooflineCopy, memory.copy);
  note(meta::kRooflineTriad, memory.triad);
  row("memory, copy (bytes read and written)", memory.copy * 1e-9, "GB/s");
  row("memory, triad (two read, one written)", memory.triad * 1e-9, "GB/s");
  for (const int threads : teamSizes(count)) {
    const double ns = record::forkJoinNs(threads, effort);
    if (ns == 0) continue;
    note(meta::kRooflineForkJoin + std::to_string(threads), ns);
    row("an empty OpenMP region, " + plural(threads, "thread"), ns * 1e-3, "us");
  }
  if (auto status = saveRoofline(path, roofline); !status.has_value())
    return reportError(status.error().message, kUsage);
  print("Stored in {}.\n", path);
  print("Later recordings contain it. Measure again if the machine was busy.\n");
  return kDone;
}

}  // namespace pitwall::cli
