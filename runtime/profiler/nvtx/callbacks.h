// Replaces the function tables of a program's copy of NVTX.
#pragma once

#include "runtime/profiler/nvtx/abi.h"
#include "runtime/profiler/nvtx/recorder.h"

namespace pitwall::nvtx {

// Names and schemas of this process, global since NVTX's functions have no context parameter. Never
// destroyed, since a program may call NVTX from the destructor of a static.
Names& processNames();
Schemas& processSchemas();
// Sets the domains to record; before the first call of processNames().
void recordOnly(std::string_view domains);

// Sets the recorder of all following calls of the tables' functions; nullptr = none. The caller keeps the
// recorder alive as long as any thread may be in a call.
void setActive(Recorder* recorder);
Recorder* active();

// Called once when a call finds no active recorder, as in a forked child: may set one. nullptr = none.
void setRevive(void (*revive)());

// Writes our functions over the slots of the copy of NVTX that exports `get`. Any number of copies, each any
// number of times. False when the table is unknown.
bool install(abi::GetExportTable get);

// The same for an extension. False when it is not recorded; NVTX then turns it off.
bool install(abi::ExtensionModule& module);

}  // namespace pitwall::nvtx
