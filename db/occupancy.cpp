#include "db/occupancy.h"

#include <algorithm>
#include <limits>

namespace pitwall {

namespace {

// Of every architecture since Maxwell.
constexpr std::int64_t kPartitions = 4;      // schedulers of a multiprocessor; each owns its registers
constexpr std::int64_t kRegisterUnit = 256;  // allocation unit of a warp's registers
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::int64_t divideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t roundUp(std::int64_t a, std::int64_t b) { return divideUp(a, b) * b; }

std::int64_t blocksByRegisters(const MultiprocessorLimits& device, const KernelLaunch& launch,
                               std::int64_t warps) {
  if (launch.registers_per_thread == 0 || device.registers == 0) return kNoLimit;
  const std::int64_t per_warp =
      roundUp(std::int64_t{launch.registers_per_thread} * device.warp_size, kRegisterUnit);
  // A block's warps spread over the partitions, so its registers count for a multiple of them.
  if (device.registers_per_block > 0 && per_warp * roundUp(warps, kPartitions) > device.registers_per_block)
    return 0;
  const std::int64_t resident = device.registers / kPartitions / per_warp * kPartitions;
  return resident / warps;
}

std::int64_t blocksBySharedMemory(const MultiprocessorLimits& device, const KernelLaunch& launch) {
  // From compute capability 8.0 on the system reserves 1 KiB of each block.
  const Bytes reserved = device.compute_major >= 8 ? 1024 : 0;
  const Bytes unit = device.compute_major >= 8 ? 128 : 256;
  const Bytes per_block = roundUp(launch.shared_bytes_per_block + reserved, unit);
  if (per_block == 0 || device.shared_bytes == 0) return kNoLimit;
  Bytes available = device.shared_bytes;
  if (launch.shared_bytes_configured > 0) available = std::min(available, launch.shared_bytes_configured);
  return available / per_block;
}

}  // namespace

Occupancy theoreticalOccupancy(const MultiprocessorLimits& device, const KernelLaunch& launch) {
  if (device.warps <= 0 || device.warp_size <= 0 || launch.threads_per_block <= 0) return {};
  // Values from a file may be anything.
  const bool sane = launch.threads_per_block <= 4096 && launch.registers_per_thread >= 0 &&
                    launch.registers_per_thread <= 4096 && launch.shared_bytes_per_block >= 0 &&
                    launch.shared_bytes_per_block <= (Bytes{1} << 30) && device.warp_size <= 1024;
  if (!sane) return {};
  const std::int64_t warps = divideUp(launch.threads_per_block, device.warp_size);
  struct Limit {
    std::int64_t blocks;
    const char* name;
  };
  // Of equal limits the first is named: the one that a program can change most easily comes first.
  const Limit limits[] = {
      {blocksByRegisters(device, launch, warps), "registers"},
      {blocksBySharedMemory(device, launch), "shared memory"},
      {device.blocks > 0 ? device.blocks : kNoLimit, "blocks"},
      {device.warps / warps, "block size"},
  };
  const Limit& tightest =
      *std::min_element(std::begin(limits), std::end(limits),
                        [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  Occupancy result;
  result.blocks = static_cast<int>(tightest.blocks);
  result.share = static_cast<double>(tightest.blocks * warps) / device.warps;
  if (tightest.blocks * warps < device.warps) result.limiter = tightest.name;
  return result;
}

}  // namespace pitwall
