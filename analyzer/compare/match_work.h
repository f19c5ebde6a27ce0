// Finds each operator and kernel of one trace in the other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/compare.h"
#include "analyzer/compare/batch_shapes.h"

namespace pitwall::comparing {

struct MatchedWork {
  std::string name;            // with shapes; N stands for the batch where it differs
  std::string a_name, b_name;  // in Measured::work; empty where that trace has none of the kind
};

struct Matches {
  std::vector<MatchedWork> all;  // by name
  std::size_t in_both = 0;       // of them
  std::size_t by_batch = 0;      // of those: whose shapes differ as the batches do
  BatchRatio batches;            // as given, or as most shapes suggest; not known where none differ so
  bool batches_from_shapes = false;
};

// Operators are matched by layer, type and phase, and by shapes as far as these are not the batch's. Without
// known batches a ratio counts when at least half of what is left unmatched by name suggests it.
Matches matchWork(const Measured& a, const Measured& b);

}  // namespace pitwall::comparing
