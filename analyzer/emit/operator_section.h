// The section of a report about operators.
#pragma once

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

void writeOperatorSection(const Report& report, Emitter& emitter);

}  // namespace pitwall::emit
