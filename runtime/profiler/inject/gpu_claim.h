// Who records the GPUs of a process in which the injection library is: CUPTI serves one. Pitwall's runtime
// knows which operator a launch belongs to, so that its recording has them when there is one by the time CUDA
// starts; else the injection library has them.
#pragma once

#include <sys/types.h>

#include <mutex>

namespace pitwall::inject {

class GpuClaim {
 public:
  using Begin = void (*)(void* claimant);

  // From now on `begin(claimant)` is called when CUDA starts, in place of our own beginning. False: CUDA has
  // started already, or somebody else has claimed.
  bool claim(Begin begin, void* claimant);

  // `claimant` ends, and is called no more; waits for a call in progress. What CUDA does after it has started
  // is then not recorded any more.
  void giveUp(const void* claimant);

  // CUDA starts. True: who has claimed has been told; false: the GPUs are ours from now on. In a forked child
  // nobody has claimed: the parent's recording does not record there.
  bool tellClaimant();

 private:
  std::mutex mutex_;  // guards what follows
  Begin begin_ = nullptr;
  void* claimant_ = nullptr;
  pid_t pid_ = 0;  // the claimant's
  bool ours_ = false;
};

// Of this process.
GpuClaim& gpuClaim();

// What the library exports for the runtime: claim() with a `begin`, giveUp() with nullptr. 1: done.
inline constexpr char kClaimFunction[] = "pitwall_inject_claim_gpu";
using ClaimFunction = int(GpuClaim::Begin begin, void* claimant);

}  // namespace pitwall::inject
