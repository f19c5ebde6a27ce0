#include "db/import/rocm/rocm_names.h"

#include <algorithm>
#include <utility>

#include "db/import/database_rows.h"

namespace pitwall::import {

KernelFacts rocmKernel(const std::array<std::int64_t, 3>& workgroup, const std::array<std::int64_t, 3>& grid,
                       std::int64_t registers, std::int64_t group_bytes, std::int64_t private_bytes) {
  KernelFacts facts;
  for (std::size_t i = 0; i < 3; ++i) {
    facts.block[i] = saneExtent(workgroup[i]);
    const std::int64_t items = saneExtent(grid[i]);
    if (facts.block[i] > 0) facts.grid[i] = saneExtent((items + facts.block[i] - 1) / facts.block[i]);
  }
  facts.registers_per_thread = std::min(saneExtent(registers), 65536);
  facts.static_shared_bytes = saneExtent(group_bytes);
  facts.local_bytes = saneExtent(private_bytes);
  return facts;
}

std::string rocmCopyName(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kDirections[] = {{"HOST_TO_DEVICE", "Memcpy HtoD"},
                                                                      {"DEVICE_TO_HOST", "Memcpy DtoH"},
                                                                      {"DEVICE_TO_DEVICE", "Memcpy DtoD"},
                                                                      {"HOST_TO_HOST", "Memcpy HtoH"}};
  for (const auto& [direction, shown] : kDirections) {
    if (name.ends_with(direction)) return shown;
  }
  return name.empty() ? "Memcpy" : std::string(name);
}

}  // namespace pitwall::import
