// The report's section on functions of sampled stacks.
#pragma once

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

void writeCodeSection(const CodeReport& code, Emitter& emitter);

}  // namespace pitwall::emit
