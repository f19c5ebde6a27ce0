// The report's table of what devices did.
#pragma once

#include <vector>

#include "analyzer/emit/emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

void writeKernelSection(const std::vector<KernelRow>& kernels, Emitter& emitter);

}  // namespace pitwall::emit
