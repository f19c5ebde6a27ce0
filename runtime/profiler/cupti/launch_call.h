// What the arguments of a call that launches a kernel say, and the driver about it.
#pragma once

#include <cupti.h>

#include <span>

#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// The calls of the driver that launch one kernel.
std::span<const CUpti_CallbackId> launchCalls();

// `arguments` of a call of these. Registers and static shared memory are unknown; how many blocks fit is asked of the
// driver that the program has loaded.
LaunchFacts launchFactsOf(CUpti_CallbackId call, const void* arguments);

}  // namespace pitwall::cupti
