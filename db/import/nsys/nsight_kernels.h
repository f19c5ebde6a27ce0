// Facts of kernels from an Nsight Systems export, with the occupancy that follows from the device's limits.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>

#include "db/import/build/builder.h"
#include "db/occupancy.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

class NsightKernels {
 public:
  // Columns of the kernel table, to be selected after `first` others.
  static constexpr std::array<std::string_view, 12> kColumns = {"registersPerThread",
                                                                "gridX",
                                                                "gridY",
                                                                "gridZ",
                                                                "blockX",
                                                                "blockY",
                                                                "blockZ",
                                                                "staticSharedMemory",
                                                                "dynamicSharedMemory",
                                                                "localMemoryPerThread",
                                                                "sharedMemoryExecuted",
                                                                "deviceId"};

  explicit NsightKernels(Builder& builder) : builder_(builder) {}

  // The limits of the devices; nothing where the table or its columns are missing. Errors: corruptTrace.
  Status readDevices(store::ForeignDatabase& database);
  // The facts of the row whose columns kColumns begin at `first`; none when it has none.
  KernelId factsOf(const store::ForeignRow& row, std::size_t first);

 private:
  using Numbers = std::array<std::int64_t, kColumns.size()>;
  struct Hash {
    std::size_t operator()(const Numbers& numbers) const noexcept;
  };

  Builder& builder_;
  std::unordered_map<std::int64_t, MultiprocessorLimits> devices_;
  std::unordered_map<Numbers, KernelId, Hash> known_;
  // The last facts of each hash bucket: most launches repeat one of a few hundred earlier ones.
  struct Recent {
    Numbers numbers{};
    KernelId id;
  };
  std::array<Recent, 256> recent_;
};

}  // namespace pitwall::import
