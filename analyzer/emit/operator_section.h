// The section of a report about operators.
#pragma once

#include <vector>

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

// Of what a report's operators are ordered by: the device time that they launch, where any did; else the time
// that they take themselves.
bool ordersByDevice(const std::vector<OperatorRow>& operators);

void writeOperatorSection(const Report& report, Emitter& emitter);

}  // namespace pitwall::emit
