// Decides who records the GPUs of a process with the injection library: CUPTI has only one client. Pitwall's
// runtime knows the operator of each launch, so it records the GPUs if it is recording when CUDA starts; else
// the injection library does.
#pragma once

#include <sys/types.h>

#include "db/mutex.h"

namespace pitwall::inject {

class GpuClaim {
 public:
  using Begin = void (*)(void* claimant);

  // From now on `begin(claimant)` is called when CUDA starts, instead of starting the library's own GPU
  // recording. False: CUDA has already started, or there is another claimant.
  bool claim(Begin begin, void* claimant);

  // Ends the claim of `claimant`, which is no longer called; waits for a call in progress. If CUDA has
  // started, GPU activity is not recorded from then on.
  void giveUp(const void* claimant);

  // Called when CUDA starts. True: the claimant has been called; false: the library records the GPUs from now
  // on. A forked child has no claimant: the parent's recording does not record there.
  bool startClaimant();

 private:
  Mutex mutex_;
  Begin begin_ PITWALL_GUARDED_BY(mutex_) = nullptr;
  void* claimant_ PITWALL_GUARDED_BY(mutex_) = nullptr;
  pid_t pid_ PITWALL_GUARDED_BY(mutex_) = 0;  // the claimant's
  bool ours_ PITWALL_GUARDED_BY(mutex_) = false;
};

// Of this process.
GpuClaim& gpuClaim();

// The function that the library exports for the runtime: claim() with a `begin`, giveUp() with nullptr.
// Returns 1 on success.
inline constexpr char kClaimFunction[] = "pitwall_inject_claim_gpu";
using ClaimFunction = int(GpuClaim::Begin begin, void* claimant);

}  // namespace pitwall::inject
