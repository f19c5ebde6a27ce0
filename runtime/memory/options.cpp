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

namespace {

// The settings of a kind of memory. MXNet has no rounding of large blocks for pinned memory.
struct PoolSettings {
  const char *type, *page, *cutoff, *reserve;
  const char* large = nullptr;
};

PoolSettings poolSettings(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return {"MXNET_GPU_MEM_POOL_TYPE", "MXNET_GPU_MEM_POOL_PAGE_SIZE",
              "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "MXNET_GPU_MEM_POOL_RESERVE",
              "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE"};
    case DeviceKind::pinned:
      return {"MXNET_CPU_PINNED_MEM_POOL_TYPE", "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE",
              "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF", "MXNET_CPU_PINNED_MEM_POOL_RESERVE"};
    case DeviceKind::cpu: break;
  }
  return {"MXNET_CPU_MEM_POOL_TYPE", "MXNET_CPU_MEM_POOL_PAGE_SIZE", "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
          "MXNET_CPU_MEM_POOL_RESERVE", "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE"};
}

}  // namespace

Result<StorageOptions> StorageOptions::fromSettings(const Settings& settings, DeviceKind kind) {
  const PoolSettings names = poolSettings(kind);
  StorageOptions options;
  const std::string_view type = settings.text(names.type);
  options.pool = type == "Round"      ? PoolType::round
                 : type == "Unpooled" ? PoolType::unpooled
                                      : PoolType::naive;
  if (settings.boolean("MXNET_USE_NAIVE_STORAGE_MANAGERS")) options.pool = PoolType::unpooled;
  options.page_bytes = settings.integer(names.page);
  options.round_linear_cutoff = static_cast<int>(settings.integer(names.cutoff));
  if (names.large != nullptr) options.large_round_bytes = settings.integer(names.large);
  options.reserve_percent = static_cast<int>(settings.integer(names.reserve));
  if (options.pool == PoolType::round &&
      !std::has_single_bit(static_cast<std::uint64_t>(options.page_bytes))) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}={}: the Round pool needs a power of two, such as 4096", names.page,
                            options.page_bytes));
  }
  return options;
}

}  // namespace pitwall
