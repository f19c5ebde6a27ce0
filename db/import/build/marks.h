// Marks of iterations of one input, which may come unsorted and from several threads.
#pragma once

#include <cstdint>
#include <vector>

#include "db/event.h"
#include "db/import/build/tally.h"
#include "db/sink.h"

namespace pitwall::import {

class Marks {
 public:
  explicit Marks(Tally& tally) : tally_(tally) {}

  void add(std::int64_t index, std::int64_t time_ns);  // on the input's clock
  void beginInput() { marks_.clear(); }
  // Writes them, unless an earlier input had marks; trace time 0 is `zero_ns` on the input's clock.
  void endInput(TraceSink& sink, std::int64_t zero_ns);

 private:
  Tally& tally_;
  std::vector<IterationMark> marks_;
};

}  // namespace pitwall::import
