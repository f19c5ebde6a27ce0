// One function for each change, and what they share.
#pragma once

#include "analyzer/simulate/apply.h"

namespace pitwall::simulate {

// Each changes `out` as the change does in that case. Errors: those of applyEdits.
Status applyDataWait(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyWorkers(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyPrefetch(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyOperators(const Program& program, const Edit& edit, Case which, Changed& out);

TimeNs times(TimeNs ns, double factor);
double pick(Case which, double best, double worst);
// "'TEXT': this trace has no WHAT".
Failure nothingFor(const Edit& edit, const char* what);

}  // namespace pitwall::simulate
