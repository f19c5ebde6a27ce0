// How the C interface finds the recording that its process has anyhow.
#pragma once

#include "runtime/profiler.h"

namespace pitwall::profiler_c {

// The recorder of the injection library, when the C interface is a part of it: begins the recording that PITWALL_TRACE
// asks for, unless it has begun. nullptr: this process is not recorded, which was reported.
using Join = Profiler*();

// Before the first call of the interface; nullptr in the static library.
void setJoin(Join* join);

}  // namespace pitwall::profiler_c
