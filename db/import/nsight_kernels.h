// Facts of kernels as an Nsight Systems export tells them, with the occupancy that follows from the device's
// limits.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>

#include "db/import/builder.h"
#include "db/occupancy.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

class NsightKernels {
 public:
  // Columns of the table of kernels, to be asked for behind `first` others.
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
  // Of the row whose columns kColumns begin at `first`; none when it tells nothing.
  KernelId factsOf(const store::ForeignRow& row, std::size_t first);

 private:
  using Numbers = std::array<std::int64_t, kColumns.size()>;
  struct Hash {
    std::size_t operator()(const Numbers& numbers) const noexcept;
  };

  Builder& builder_;
  std::unordered_map<std::int64_t, MultiprocessorLimits> devices_;
  std::unordered_map<Numbers, KernelId, Hash> known_;
  // The facts seen last of each of some hashes: most launches are like one of a few hundred before.
  struct Recent {
    Numbers numbers{};
    KernelId id;
  };
  std::array<Recent, 256> recent_;
};

}  // namespace pitwall::import
