#include <fmt/format.h>

#include <bit>

#include "runtime/memory.h"

namespace pitwall {

const char* toString(MemoryTag tag) {
  switch (tag) {
    case MemoryTag::other: return "other";
    case MemoryTag::weights: return "weights";
    case MemoryTag::gradients: return "gradients";
    case MemoryTag::optimizer: return "optimizer";
    case MemoryTag::activations: return "activations";
    case MemoryTag::workspace: return "workspace";
    case MemoryTag::data: return "data";
    case MemoryTag::count: break;
  }
  return "unknown";
}

Result<StorageOptions> StorageOptions::fromSettings(const Settings& settings) {
  StorageOptions options;
  const std::string_view type = settings.text("MXNET_CPU_MEM_POOL_TYPE");
  options.pool = type == "Round"      ? PoolType::round
                 : type == "Unpooled" ? PoolType::unpooled
                                      : PoolType::naive;
  if (settings.boolean("MXNET_USE_NAIVE_STORAGE_MANAGERS")) options.pool = PoolType::unpooled;
  options.page_bytes = settings.integer("MXNET_CPU_MEM_POOL_PAGE_SIZE");
  options.round_linear_cutoff = static_cast<int>(settings.integer("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF"));
  options.large_round_bytes = settings.integer("MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE");
  if (options.pool == PoolType::round &&
      !std::has_single_bit(static_cast<std::uint64_t>(options.page_bytes))) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("MXNET_CPU_MEM_POOL_PAGE_SIZE={}: the Round pool needs a power of two, such as 4096",
                    options.page_bytes));
  }
  return options;
}

}  // namespace pitwall
