// A program that is ready for predictions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/simulate.h"
#include "analyzer/simulate/program.h"
#include "db/result.h"

namespace pitwall::simulate {

struct Predictor {
  Program program;
  ReplayCheck check;
  std::vector<TimeNs> unchanged_ns;  // steady iterations of the unchanged replay, where it is predictable

  // After reading, once: replays the unchanged program.
  void prepare();

  // As Simulator::predict().
  Result<Prediction> predict(std::span<const std::string> changes) const;
};

}  // namespace pitwall::simulate
