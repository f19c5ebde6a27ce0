// What the parts of record_bench share.
#pragma once

#include <time.h>

#include <filesystem>
#include <string>

namespace pitwall::bench {

struct RecordSettings {
  double seconds = 1;  // per figure
  int kills = 20;
  double soak_seconds = 0;
  std::string folder = std::filesystem::temp_directory_path();
};

inline double nsOf(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// A row of the table: a figure beside its target.
void row(const std::string& what, const std::string& figure, const std::string& target, bool reached);

// Two threads at full rate into a trace on disk, for this long; the lossless policy makes them as fast as the drain.
// `soak`: whether each event arrives, instead of the drain's rate.
void benchDrain(const RecordSettings& settings, double seconds, bool soak);

// Processes killed while they record: whether the trace has each committed record once. Before there are threads.
void benchKills(const RecordSettings& settings);

}  // namespace pitwall::bench
