// Where the times of one input are in the trace: its time 0, its span, its wall clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "db/import.h"
#include "db/import/input/text.h"
#include "db/units.h"

namespace pitwall::import {

class InputClock {
 public:
  static bool inRange(std::int64_t time_ns) { return time_ns < kLatestNs && time_ns > -kLatestNs; }

  void beginInput() { input_ = {}; }
  // The trace time of this input's time 0 (its first event), set before its first event.
  void place(TimeNs begin_ns) { input_.placed = begin_ns; }
  // The wall-clock time of this input's time 0, ns since 1970. May be called late.
  void wallClock(std::int64_t zero_unix_ns) { input_.zero_unix_ns = zero_unix_ns; }
  // No event of this input begins before this time; for readers that know it beforehand.
  void expectFrom(std::int64_t time_ns);
  void extend(std::int64_t start_ns, std::int64_t end_ns) {
    input_.earliest = input_.has_span ? std::min(input_.earliest, start_ns) : start_ns;
    input_.latest = input_.has_span ? std::max(input_.latest, end_ns) : end_ns;
    input_.has_span = true;
  }
  std::int64_t earliest() const { return input_.earliest; }
  std::int64_t latest() const { return input_.latest; }  // end of the last event of this input; its own clock

  // Trace time 0 on this input's clock; from the first call on it does not change.
  std::int64_t zero();
  // Extends the span by these times of an input whose times are trace times but for place(); returns the
  // trace time of the input's time 0.
  TimeNs placeRows(TimeNs first_ns, TimeNs last_ns);

  // Extends the span in the summary by the input's. The wall clock of the first input is the trace's.
  void endInput(ImportSummary& summary, bool is_first);
  std::optional<std::int64_t> traceStartUnixNs() const { return trace_start_unix_ns_; }

 private:
  struct Input {
    std::optional<TimeNs> placed;
    std::optional<std::int64_t> zero;
    std::optional<std::int64_t> zero_unix_ns;
    bool has_span = false;
    std::int64_t earliest = 0;
    std::int64_t latest = 0;
  };
  Input input_;
  bool has_total_span_ = false;
  std::optional<std::int64_t> trace_start_unix_ns_;
};

}  // namespace pitwall::import
