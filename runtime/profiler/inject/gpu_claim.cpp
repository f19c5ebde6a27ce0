#include "runtime/profiler/inject/gpu_claim.h"

#include <unistd.h>

namespace pitwall::inject {

bool GpuClaim::claim(Begin begin, void* claimant) {
  const ScopedLock lock(mutex_);
  if (ours_ || begin_ != nullptr) return false;
  begin_ = begin;
  claimant_ = claimant;
  pid_ = getpid();
  return true;
}

void GpuClaim::giveUp(const void* claimant) {
  const ScopedLock lock(mutex_);
  if (claimant_ != claimant) return;
  begin_ = nullptr;
  claimant_ = nullptr;
}

bool GpuClaim::startClaimant() {
  const ScopedLock lock(mutex_);
  if (begin_ == nullptr || pid_ != getpid()) {
    ours_ = true;
    return false;
  }
  begin_(claimant_);
  return true;
}

// Never destroyed: CUDA may start while the process ends.
GpuClaim& gpuClaim() {
  static auto* const claim = new GpuClaim;
  return *claim;
}

}  // namespace pitwall::inject
