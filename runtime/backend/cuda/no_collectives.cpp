// For a toolkit without NCCL's header.
#include "runtime/backend/cuda/collectives.h"

namespace pitwall::cuda {
namespace {

Failure withoutNccl() {
  return fail(
      ErrorCode::unsupported,
      "Pitwall was built without NCCL (nccl.h was not found: install NCCL 2 with the CUDA toolkit and "
      "build again)");
}

}  // namespace

Result<std::string> collectivesVersion() { return withoutNccl(); }
Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int>) { return withoutNccl(); }

}  // namespace pitwall::cuda
