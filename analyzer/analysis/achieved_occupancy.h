// The occupancy that kernels achieved, where the trace has the hardware counter of it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analyzer/analysis/devices.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

// 0..1 by StringId.value of a kernel's name: the mean over the time of its counted executions on the device. Empty
// where nothing was counted. Errors: corruptTrace.
Result<std::unordered_map<std::uint32_t, double>> achievedOccupancy(Trace& trace, const DeviceTimes& device);

}  // namespace pitwall::analysis
