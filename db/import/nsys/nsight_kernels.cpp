#include "db/import/nsys/nsight_kernels.h"

#include <algorithm>
#include <limits>

namespace pitwall::import {
namespace {

constexpr std::size_t kMostKnown = std::size_t{1} << 16;

// A file may contain any values: those that no device can have count as unknown.
std::int32_t sane(std::int64_t number) {
  return number < 0 || number > std::numeric_limits<std::int32_t>::max() ? 0
                                                                         : static_cast<std::int32_t>(number);
}

}  // namespace

std::size_t NsightKernels::Hash::operator()(const Numbers& numbers) const noexcept {
  // A sum, so that the multiplications are independent.
  std::uint64_t hash = 0;
  std::uint64_t factor = 0x9e3779b97f4a7c15;
  for (const std::int64_t number : numbers) {
    hash += static_cast<std::uint64_t>(number) * factor;
    factor += 0x7f4a7c159e3779b8;  // stays odd
  }
  return hash ^ hash >> 32;
}

Status NsightKernels::readDevices(store::ForeignDatabase& database) {
  constexpr std::array<std::string_view, 11> kLimits = {"id",
                                                        "cuDevice",
                                                        "computeMajor",
                                                        "computeMinor",
                                                        "threadsPerWarp",
                                                        "maxWarpsPerSm",
                                                        "maxBlocksPerSm",
                                                        "maxRegistersPerSm",
                                                        "maxRegistersPerBlock",
                                                        "maxShmemPerSm",
                                                        "smMajor"};
  return database.visit("TARGET_INFO_GPU", kLimits, [&](const store::ForeignRow& row) -> Status {
    MultiprocessorLimits limits;
    limits.compute_major = sane(row.isNull(2) ? row.integer(10) : row.integer(2));
    limits.compute_minor = sane(row.integer(3));
    if (!row.isNull(4)) limits.warp_size = sane(row.integer(4));
    limits.warps = sane(row.integer(5));
    limits.blocks = sane(row.integer(6));
    limits.registers = sane(row.integer(7));
    limits.registers_per_block = sane(row.integer(8));
    limits.shared_bytes = sane(row.integer(9));
    if (devices_.size() < 4096) devices_[row.isNull(1) ? row.integer(0) : row.integer(1)] = limits;
    return {};
  });
}

KernelId NsightKernels::factsOf(const store::ForeignRow& row, std::size_t first) {
  Numbers numbers;
  bool any = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = row.integer(first + i);
    any = any || (i + 1 < numbers.size() && numbers[i] != 0);
  }
  if (!any) return {};
  Recent& recent = recent_[Hash()(numbers) % recent_.size()];
  if (recent.id && recent.numbers == numbers) return recent.id;
  recent.numbers = numbers;
  if (const auto found = known_.find(numbers); found != known_.end()) return recent.id = found->second;
  KernelFacts facts;
  facts.registers_per_thread = sane(numbers[0]);
  facts.grid = {sane(numbers[1]), sane(numbers[2]), sane(numbers[3])};
  facts.block = {sane(numbers[4]), sane(numbers[5]), sane(numbers[6])};
  facts.static_shared_bytes = sane(numbers[7]);
  facts.dynamic_shared_bytes = sane(numbers[8]);
  facts.local_bytes = sane(numbers[9]);
  if (const auto device = devices_.find(numbers[11]); device != devices_.end()) {
    const std::int64_t threads = std::min<std::int64_t>(facts.block[0], 65536) *
                                 std::min<std::int64_t>(facts.block[1], 65536) *
                                 std::min<std::int64_t>(facts.block[2], 65536);
    Occupancy occupancy = theoreticalOccupancy(
        device->second, {threads, facts.registers_per_thread,
                         facts.static_shared_bytes + facts.dynamic_shared_bytes, sane(numbers[10])});
    facts.theoretical_occupancy = occupancy.share;
    facts.limiter = std::move(occupancy.limiter);
  }
  recent.id = builder_.names().kernel(facts);
  if (known_.size() < kMostKnown) known_[numbers] = recent.id;
  return recent.id;
}

}  // namespace pitwall::import
