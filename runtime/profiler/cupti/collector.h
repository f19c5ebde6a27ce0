// Records the GPU activity of this process by CUPTI: kernels, copies, memory sets, CUDA calls,
// synchronisation, graphs, memory, CUPTI's own overhead.
//
// CUPTI and the CUDA libraries are loaded when attach() is called, never linked: a program without a driver
// runs unchanged. One collector per process, as CUPTI has one subscriber.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/result.h"
#include "runtime/profiler.h"
#include "runtime/profiler/cupti/operator_scope.h"  // takes effect by attaching

namespace pitwall::cupti {

enum class Extent : std::uint8_t {
  everything,
  managed,   // and what happens to managed memory
  kernels,   // and copies, memory sets and graphs, without calls, waits and memory: the least cost
  counters,  // kernels with hardware counters, one after the other, and calls: times of the GPU mean nothing
};

// The extent that the setting PITWALL_RECORD_GPU gives; none = the GPUs are not recorded.
std::optional<Extent> extentOf(std::string_view setting);

// From now on the activity of the GPUs becomes events of `profiler`'s recordings; the profiler must live
// until detach(). Any time, also long after the first use of CUDA. No effect when already attached. Errors:
// unsupported, as a sentence for the user: built without CUPTI, no driver, a driver too old, CUPTI not found,
// another tool attached. NVTX and CPU recording do not depend on it.
Status attach(Profiler& profiler, Extent extent = Extent::everything);

// Delivers pending records and detaches CUPTI, so that it no longer slows the program down. For a program that goes
// on. No effect when not attached.
void detach() noexcept;

// For the end of the process, while the libraries of CUDA still work (atexit(), at_quick_exit(), _exit()): delivers
// pending records to the recording. CUPTI is not called again, so that nothing attaches later. attach() registers it
// with atexit(): a destructor would come too late, as CUPTI's library may be finalised before Pitwall's.
void finish() noexcept;

// As finish(), when the libraries may have been finalised: pending records are lost.
void abandon() noexcept;

bool isAttached() noexcept;

// What was not recorded, and why: sentences for the user, each with a line end. Complete after detach() or finish().
std::string takeNotes();

}  // namespace pitwall::cupti
