// The section of a report about the critical path.
#pragma once

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

void writeCriticalPathSection(const PathSummary& path, Emitter& emitter);

}  // namespace pitwall::emit
