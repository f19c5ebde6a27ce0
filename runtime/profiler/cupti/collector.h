// Records what the GPUs of this process do, by CUPTI: kernels, copies, memory sets, CUDA calls,
// synchronisation, graphs, memory, CUPTI's own overhead.
//
// CUPTI and the CUDA libraries are loaded when attach() is called, never linked: a program without a driver
// runs as it would. One collector per process, as CUPTI has one subscriber.
#pragma once

#include "db/result.h"
#include "runtime/profiler.h"
#include "runtime/profiler/cupti/operator_scope.h"  // what attaching makes effective

namespace pitwall::cupti {

// From now on the activity of the GPUs becomes events of `profiler`'s recordings; it must stay until
// detach(). Any time, also long after the first use of CUDA. No effect when attached already. Errors:
// unsupported, in a sentence for the user: built without CUPTI, no driver, a driver too old, CUPTI not found,
// another tool attached. NVTX and CPU recording do not depend on it.
Status attach(Profiler& profiler);

// Hands over what is outstanding and gives CUPTI up, so that nothing of it slows the program down any more.
// No effect when not attached.
void detach() noexcept;

bool isAttached() noexcept;

}  // namespace pitwall::cupti
