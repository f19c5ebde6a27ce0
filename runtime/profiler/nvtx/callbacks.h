// Takes over the function tables of a program's copy of NVTX.
#pragma once

#include "runtime/profiler/nvtx/abi.h"
#include "runtime/profiler/nvtx/recorder.h"

namespace pitwall::nvtx {

// Names and schemas of this process: NVTX's functions carry no context. Never destroyed, as a program may
// call NVTX from the destructor of a static.
Names& processNames();
Schemas& processSchemas();
// Those of the domains to record; before the first call of processNames().
void recordOnly(std::string_view domains);

// Who records what the tables' functions are called with from now on; nullptr = nobody. The caller keeps the
// recorder alive as long as any thread may be in a call.
void setActive(Recorder* recorder);
Recorder* active();

// Called once when a call finds nobody active, as in a forked child: may set one. nullptr = none.
void setRevive(void (*revive)());

// Writes our functions over the slots of the copy of NVTX that exports `get`. Any number of copies, each any
// number of times. False when the table is not one that we know.
bool install(abi::GetExportTable get);

// The same for an extension. False when it is one that we do not record; NVTX then turns it off.
bool install(abi::ExtensionModule& module);

}  // namespace pitwall::nvtx
