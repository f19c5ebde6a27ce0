// CPU time of the recorded program with all its processes, including those that lived for less than an
// interval.
#pragma once

#include <algorithm>

#include "db/units.h"

namespace pitwall::record {

// The kernel adds a process's CPU time to its parent's once the parent has waited for it. So the time of a
// process that ended is counted when it is sampled, and again in its parent, where it is subtracted. Any
// further time belongs to processes that were never sampled.
class OwnCpu {
 public:
  void used(TimeNs more_ns) { total_ns_ += more_ns; }     // by a sampled process
  void ended(TimeNs known_ns) { ended_ns_ += known_ns; }  // its own time and that of its children
  void waitedFor(TimeNs more_ns) {
    const TimeNs counted = std::min(more_ns, ended_ns_);
    ended_ns_ -= counted;
    total_ns_ += more_ns - counted;
  }
  TimeNs totalNs() const { return total_ns_; }

 private:
  TimeNs total_ns_ = 0;
  TimeNs ended_ns_ = 0;  // that parents have not waited for yet
};

}  // namespace pitwall::record
