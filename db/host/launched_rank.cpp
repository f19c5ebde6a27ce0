#include "db/launched_rank.h"

#include <charconv>
#include <string_view>

namespace pitwall {

std::optional<int> launchedRank(const EnvironmentLookup& lookup) {
  for (const char* const name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK"}) {
    const char* const value = lookup(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    int rank = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace pitwall
