// A build without CUPTI's headers.
#include "runtime/profiler/cupti/collector.h"

namespace pitwall::cupti {

Status attach(Profiler&, Extent) {
  return fail(ErrorCode::unsupported,
              "GPU activity is not recorded: Pitwall was built without CUPTI (configure with PITWALL_CUDA=ON "
              "where the CUDA toolkit with CUPTI is installed); CPU and NVTX are recorded");
}

void detach() noexcept {}
void finish() noexcept {}
void abandon() noexcept {}
bool isAttached() noexcept { return false; }
std::string takeNotes() { return ""; }

}  // namespace pitwall::cupti
