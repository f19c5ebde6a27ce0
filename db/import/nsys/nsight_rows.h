// What the readers of all tables of an Nsight Systems export use: visiting rows, times, processes, threads.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/nsys/nsight_tables.h"
#include "db/sqlite/foreign.h"

namespace pitwall::import {

namespace nsight {

inline constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
inline constexpr std::string_view kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view kRanges = "NVTX_EVENTS";
inline constexpr std::string_view kSystemCalls = "OSRT_API";
inline constexpr std::string_view kGpuPageFaults = "CUDA_UM_GPU_PAGE_FAULT_EVENTS";
inline constexpr std::string_view kCpuPageFaults = "CUDA_UM_CPU_PAGE_FAULT_EVENTS";
inline constexpr std::string_view kOverheads = "PROFILER_OVERHEAD";
inline constexpr std::string_view kCuptiOverheads = "CUPTI_ACTIVITY_KIND_OVERHEAD";

}  // namespace nsight

class NsightRows {
 public:
  NsightRows(store::ForeignDatabase& database, const ImportOptions& options, Builder& builder)
      : database_(database), options_(options), builder_(builder) {}

  store::ForeignDatabase& database() { return database_; }
  Builder& builder() { return builder_; }

  // Visits a table, counting its rows; nothing where it is missing. Errors: corruptTrace, cancelled.
  template <class Visit>
  Status visit(std::string_view table, std::span<const std::string_view> columns, Visit row_visitor) {
    if (!database_.has(table)) return {};
    std::int64_t& rows = builder_.tally().record(fmt::format("rows {}", table));
    return database_.visit(table, columns, [&](const store::ForeignRow& row) -> Status {
      if ((++rows & 0xFFF) == 0 && options_.cancel != nullptr &&
          options_.cancel->load(std::memory_order_relaxed)) {
        return fail(ErrorCode::cancelled,
                    fmt::format("{}: import interrupted", builder_.tally().input().path));
      }
      row_visitor(row);
      return {};
    });
  }

  // The times in the columns 0 and 1, start and end.
  static Event times(const store::ForeignRow& row);

  ProcessRef process(std::int64_t global_pid);
  TrackRef thread(std::int64_t global_tid);

 private:
  store::ForeignDatabase& database_;
  const ImportOptions& options_;
  Builder& builder_;
  RecentIds<ProcessRef> processes_;
  RecentIds<TrackRef> threads_;
};

}  // namespace pitwall::import
