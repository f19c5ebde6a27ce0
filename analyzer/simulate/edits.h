// One function for each change, and what they share.
#pragma once

#include "analyzer/simulate/apply.h"

namespace pitwall::simulate {

// Each changes `out` as the change does in that case. Errors: those of applyEdits.
Status applyDataWait(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyWorkers(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyPrefetch(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyOperators(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyThreads(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyBatch(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyBulk(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyEngineWorkers(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyLaunch(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyCopies(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyBandwidth(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyLatency(const Program& program, const Edit& edit, Case which, Changed& out);
Status applyRanks(const Program& program, const Edit& edit, Case which, Changed& out);
// What bandwidth, latency and ranks have asked for. After all that scales, so that their parts are those of the recording.
void applyTransfers(const Program& program, Case which, Changed& out);

TimeNs times(TimeNs ns, double factor);
double pick(Case which, double best, double worst);
// "'TEXT': this trace has no WHAT".
Failure nothingFor(const Edit& edit, const char* what);

}  // namespace pitwall::simulate
