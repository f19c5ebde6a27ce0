// A build without NVTX's headers: no ranges for other tools.
#include "runtime/profiler/nvtx/operator_ranges.h"

namespace pitwall::nvtx {

struct OperatorRanges::Tool {};

OperatorRanges::OperatorRanges(const Profiler& profiler) : profiler_(profiler) {}
OperatorRanges::~OperatorRanges() = default;
void OperatorRanges::push(OperatorId) {}
void OperatorRanges::pop() {}

}  // namespace pitwall::nvtx
