// What a recording cannot promise because something disturbed it: other programs took the CPUs, or the
// program failed at once.
#pragma once

#include <string>
#include <vector>

#include "analyzer/rules/budget.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

struct Disturbance {
  std::string busy;    // why times say little, for people; empty = the machine was quiet, or nobody looked
  std::string failed;  // that it ended before it did its work; empty = it did not
};

// Of a trace whose analysis tables are written. Errors: of the trace.
Result<Disturbance> disturbanceOf(Trace& trace);

// Where the machine was busy, no lower end of a gain holds, and neither numbers of threads nor gains from
// them are proposed: alone on the machine the program behaves otherwise. Of a program that failed at once
// nothing is promised.
void withhold(const Disturbance& disturbance, std::vector<Claim>& claims);

// Puts findings about the run as a whole before the others, whose order stays.
void putFirst(std::vector<Finding>& findings);

}  // namespace pitwall::rules
