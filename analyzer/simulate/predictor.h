// A program that is ready for predictions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/simulate.h"
#include "analyzer/simulate/edit.h"
#include "analyzer/simulate/program.h"
#include "analyzer/simulate/simulated_times.h"
#include "db/result.h"

namespace pitwall::simulate {

struct Predictor {
  Program program;
  ReplayCheck check;
  std::vector<TimeNs> unchanged_ns;  // steady iterations of the unchanged replay, where it is predictable

  // After reading, once: replays the unchanged program.
  void prepare();

  // Errors: unsupported where the trace is not predictable; invalidInput for a text that is no change.
  Result<std::vector<Edit>> editsOf(std::span<const std::string> changes) const;

  // As Simulator::predict().
  Result<Prediction> predict(std::span<const std::string> changes) const;

  // The times of the trace's events after these changes, of the middle case. Errors: as predict().
  Result<SimulatedTimes> timesAfter(const Trace& trace, std::span<const std::string> changes) const;
};

}  // namespace pitwall::simulate
