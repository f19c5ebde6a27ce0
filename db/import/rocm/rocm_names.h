// Facts and names that rocprofv3 writes, in its database and its CSV files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "db/event.h"

namespace pitwall::import {

// `grid`: in work items, as the profiler counts it; the facts count workgroups.
KernelFacts rocmKernel(const std::array<std::int64_t, 3>& workgroup, const std::array<std::int64_t, 3>& grid,
                       std::int64_t registers, std::int64_t group_bytes, std::int64_t private_bytes);

// "Memcpy HtoD" of "MEMORY_COPY_HOST_TO_DEVICE" or "HOST_TO_DEVICE"; else the name as it is.
std::string rocmCopyName(std::string_view name);

}  // namespace pitwall::import
