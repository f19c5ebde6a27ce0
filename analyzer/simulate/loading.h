// A queue of batches between workers that make them and a training loop that takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "db/units.h"

namespace pitwall::simulate {

struct Pipeline {
  std::vector<TimeNs> make_ns;   // of one batch by one worker, as recorded; not empty
  std::vector<TimeNs> train_ns;  // of one iteration that never waits; not empty
  std::int64_t workers = 1;
  std::int64_t depth =
      2;  // batches that are being made or are ready and not yet taken; at least one per worker
};

// The mean duration of an iteration with its wait, over some thousand iterations after the queue has settled. Batches
// are taken in the order in which they were begun. The recorded times are drawn in blocks of neighbours, the same way in
// each call, so that slow batches meet other iterations than they did.
double settledIterationNs(const Pipeline& pipeline);

}  // namespace pitwall::simulate
