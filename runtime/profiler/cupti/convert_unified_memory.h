// Converts CUPTI's records of unified memory: pages that move, page faults, and what the driver does against pages that
// move back and forth.
#pragma once

#include <cupti.h>

#include "runtime/profiler/cupti/activity.h"
#include "runtime/profiler/cupti/names.h"

namespace pitwall::cupti {

void convertUnifiedMemory(const CUpti_ActivityUnifiedMemoryCounter3& record, Names& names, Activities& into);

}  // namespace pitwall::cupti
