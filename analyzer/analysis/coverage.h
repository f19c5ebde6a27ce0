// Coverage: which kinds of events were recorded of each process, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "db/reader.h"

namespace pitwall::analysis {

enum class Recorded : std::uint8_t { samples, ranges, libraryCalls, operators, devices };
inline constexpr std::size_t kRecordedKinds = 5;
const char* toString(Recorded what);  // "samples", "ranges", "library calls", ...

struct CoveredSpan {
  ProcessId process;
  Recorded what = Recorded::samples;
  std::string library;  // of library calls
  TimeNs from_ns = 0, to_ns = 0;
  std::int64_t events = 0;
};

struct Coverage {
  std::vector<CoveredSpan> spans;  // by process and kind

  // Samples and devices also where another process has them: they are of the whole machine, and a device
  // works for several processes.
  bool has(ProcessId process, Recorded what) const;
  std::string libraryOf(ProcessId process) const;
  // What is known of the process, the most first: "operators and devices", "operators", "devices", "library
  // calls", "ranges", "samples", "none".
  std::string level(ProcessId process) const;
};

// Errors: corruptTrace from reading counters.
Result<Coverage> coverageOf(Trace& trace, const Activity& activity);

// Writes analysis_coverage.
Status writeCoverage(Trace& trace, const Coverage& coverage);

}  // namespace pitwall::analysis
