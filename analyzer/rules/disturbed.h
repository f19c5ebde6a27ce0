// Which gains a recording cannot predict because other programs took the CPUs meanwhile.
#pragma once

#include <string>
#include <vector>

#include "analyzer/rules/budget.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

// Why the times of a trace whose analysis tables are written say little, for people; empty = the machine was
// quiet, or was not sampled. Errors: of the trace.
Result<std::string> disturbanceOf(Trace& trace);

// Where there is such a reason no lower end of a gain holds, and neither numbers of threads nor gains from
// them are proposed: alone on the machine the program behaves otherwise.
void withhold(const std::string& why, std::vector<Claim>& claims);

// Puts findings of high severity about the run as a whole before the others, whose order stays.
void putFirst(std::vector<Finding>& findings);

}  // namespace pitwall::rules
