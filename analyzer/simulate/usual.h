// What a list of durations usually is, where a few of them may be far off: a machine that other programs use now and
// then makes some iterations many times as long as the rest.
#pragma once

#include <vector>

#include "db/units.h"

namespace pitwall::simulate {

// The mean of the middle half. 0 for none.
double usualOf(const std::vector<TimeNs>& durations);

// The mean without the least and the greatest tenth. 0 for none.
double usualMeanOf(const std::vector<TimeNs>& durations);

// Two standard errors of the mean without the least and the greatest tenth, as a share of it; 0 for fewer than two
// durations.
double uncertaintyOf(const std::vector<TimeNs>& durations);

// The durations in their order, none below the least tenth or above the greatest one.
std::vector<TimeNs> withoutExtremes(std::vector<TimeNs> durations);

}  // namespace pitwall::simulate
