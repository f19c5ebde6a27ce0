// Many times that arrive almost in order, stored in about two bytes each: sorted runs of the differences
// between neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "db/units.h"

namespace pitwall::analysis {

class SortedTimes {
 public:
  void add(TimeNs time) { run_.push_back(time); }
  // Sorts and packs what came since the last call. Later calls may add earlier times.
  void endRun();

  std::int64_t count() const { return count_; }

  // Visits all of them in ascending order. The list must stay and must not change.
  class Cursor {
   public:
    explicit Cursor(const SortedTimes& times);
    bool next(TimeNs& time);

   private:
    struct At {
      TimeNs time = 0;
      const std::uint8_t *next = nullptr, *end = nullptr;  // of the steps
    };
    static bool later(const At& a, const At& b) { return a.time > b.time; }
    std::vector<At> waiting_;  // runs by their first time, the earliest last
    std::vector<At> open_;     // a heap of runs that have begun
  };

 private:
  struct Run {
    TimeNs first = 0;
    std::vector<std::uint8_t> steps;
  };

  std::vector<TimeNs> run_;  // not packed yet
  std::vector<Run> runs_;
  std::vector<std::uint8_t> steps_;  // of the run that is packed
  std::int64_t count_ = 0;
};

}  // namespace pitwall::analysis
