// Theoretical occupancy of a kernel: how many of a multiprocessor's warps its blocks can fill, by CUDA's
// rules. A pure function of the launch and the device's limits; standard library only.
#pragma once

#include <cstdint>
#include <string>

#include "db/units.h"

namespace pitwall {

// Limits of one multiprocessor, as the device reports them.
struct MultiprocessorLimits {
  int compute_major = 0, compute_minor = 0;
  int warp_size = 32;
  int warps = 0;
  int blocks = 0;
  int registers = 0;
  int registers_per_block = 0;
  Bytes shared_bytes = 0;
};

struct KernelLaunch {
  std::int64_t threads_per_block = 0;
  int registers_per_thread = 0;
  Bytes shared_bytes_per_block = 0;  // static and dynamic
  // Shared memory that the driver configured for this kernel per multiprocessor; 0 = unknown: the maximum.
  Bytes shared_bytes_configured = 0;
};

struct Occupancy {
  double share = 0;     // 0..1; 0 = unknown, or the block does not fit at all
  int blocks = 0;       // resident on a multiprocessor
  std::string limiter;  // "registers", "shared memory", "blocks", "block size"; empty when full or unknown
};

// Accepts any numbers: those beyond what a device can have give "unknown".
Occupancy theoreticalOccupancy(const MultiprocessorLimits& device, const KernelLaunch& launch);

}  // namespace pitwall
