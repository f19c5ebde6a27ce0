// Arithmetic over lists of intervals that are ordered by start. A list that a function returns is disjoint
// too, and touching intervals are one. Everything here is linear in the lengths of its lists.
#pragma once

#include <span>
#include <vector>

#include "db/units.h"

namespace pitwall::analysis {

struct Interval {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

using Intervals = std::vector<Interval>;

// Adds an interval that starts no earlier than the last one of a disjoint list did.
void appendUnion(Intervals& list, Interval next);

// Adds an interval wherever it is; unites it with the last one where the two are in order. united() puts
// the list in order.
void addInterval(Intervals& list, Interval next);

// Sorts if necessary, then unites.
Intervals united(Intervals list);
// What either covers; both ordered.
Intervals united(std::span<const Interval> a, std::span<const Interval> b);

// What `from` covers and `without` does not; both disjoint.
Intervals subtract(std::span<const Interval> from, std::span<const Interval> without);
// What both cover; both disjoint.
Intervals intersect(std::span<const Interval> a, std::span<const Interval> b);
// What a disjoint list covers of a range; reads no more of a long list than it returns.
Intervals within(std::span<const Interval> list, TimeNs begin_ns, TimeNs end_ns);

TimeNs covered(std::span<const Interval> list);

// Time that a disjoint list covers of one window after the other, whose begins do not decrease: linear in
// list and windows together.
class CoverCursor {
 public:
  explicit CoverCursor(std::span<const Interval> list) : list_(list) {}
  TimeNs within(TimeNs begin_ns, TimeNs end_ns);

 private:
  std::span<const Interval> list_;
  std::size_t at_ = 0;
};

}  // namespace pitwall::analysis
