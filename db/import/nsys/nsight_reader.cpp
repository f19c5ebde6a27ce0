// Reads the SQLite export of Nsight Systems with any subset of its tables. Columns are found by name, so that
// older and newer exports are read as far as they are known.
//
// Environment variables, command lines and the program's output (TARGET_INFO_SYSTEM_ENV, META_DATA_CAPTURE,
// ProcessStreams) may hold secrets: only a short list of facts is read from the first, nothing from the
// others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "db/import/database_rows.h"
#include "db/import/input/text.h"
#include "db/import/nsys/nsight_about.h"
#include "db/import/nsys/nsight_page_faults.h"
#include "db/import/nsys/nsight_ranges.h"
#include "db/import/nsys/nsight_rows.h"
#include "db/import/nsys/nsight_tables.h"
#include "db/import/nsys/nsight_work.h"
#include "db/import/readers.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using namespace nsight;
using store::ForeignDatabase;
using store::ForeignRow;

constexpr std::array<std::string_view, 12> kEventTables = {
    kKernels, kCopies,        kSets,          kCalls,       kSyncs,     kGraphs,
    kRanges,  kGpuPageFaults, kCpuPageFaults, kSystemCalls, kOverheads, kCuptiOverheads};
// Tables that are read for names and facts, or are known and left out on purpose.
constexpr std::array<std::string_view, 17> kOtherTables = {"StringIds",
                                                           "PROCESSES",
                                                           "ThreadNames",
                                                           "TARGET_INFO_GPU",
                                                           "TARGET_INFO_CUDA_DEVICE",
                                                           "TARGET_INFO_CUDA_CONTEXT_INFO",
                                                           "TARGET_INFO_CUDA_STREAM",
                                                           "TARGET_INFO_SESSION_START_TIME",
                                                           "TARGET_INFO_SYSTEM_ENV",
                                                           "META_DATA_CAPTURE",
                                                           "META_DATA_EXPORT",
                                                           "ProcessStreams",
                                                           "ANALYSIS_FILE",
                                                           "ANALYSIS_DETAILS",
                                                           "DIAGNOSTIC_EVENT",
                                                           "NVTX_PAYLOAD_SCHEMAS",
                                                           "NVTX_PAYLOAD_SCHEMA_ENTRIES"};

template <class Range>
bool contains(const Range& range, std::string_view what) {
  return std::find(range.begin(), range.end(), what) != range.end();
}

class Nsight {
 public:
  Nsight(ForeignDatabase& database, const ImportOptions& options, Builder& builder)
      : database_(database),
        options_(options),
        builder_(builder),
        names_(database, builder),
        projection_(builder),
        rows_(database, options, builder),
        work_(rows_, names_, projection_),
        ranges_(rows_, names_, projection_) {}

  Status run() {
    constexpr std::int64_t kPitwall = 0x50697477;  // "Pitw", as db/schema/schema.sql says
    if (auto id = database_.applicationId(); id.has_value() && *id == kPitwall) {
      return fail(ErrorCode::invalidInput, fmt::format("{}: is already a Pitwall trace; use it directly",
                                                       builder_.tally().input().path));
    }
    bool any = false;
    for (const std::string_view table : kEventTables) any = any || database_.has(table);
    if (!any && !database_.has("META_DATA_EXPORT") && !database_.has("StringIds")) return notNsight();
    builder_.tally().input().format = "Nsight Systems SQLite export";
    builder_.tally().input().clock = "nanoseconds since the session's start";
    Status status = readAll();
    work_.end();
    if (!status.has_value()) return status;
    if (!any)
      builder_.tally().note(
          fmt::format("{}: none of the tables with events is there (nsys export --lazy=false writes all)",
                      builder_.tally().input().path));
    return {};
  }

 private:
  Failure notNsight() {
    const std::vector<std::string> tables = database_.tables();
    const std::size_t shown = std::min<std::size_t>(tables.size(), 6);
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "{}: an SQLite database, but not one of Nsight Systems, nvprof or rocprofv3 (its tables: {}{})",
            builder_.tally().input().path,
            fmt::join(tables.begin(), tables.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
            shown < tables.size() ? ", ..."
            : shown == 0          ? "none"
                                  : ""));
  }

  Status readAll() {
    using Step = Status (*)(Nsight&);
    constexpr Step kSteps[] = {[](Nsight& n) { return readNsightAbout(n.rows_); },
                               [](Nsight& n) { return n.names_.read(n.options_.limits); },
                               [](Nsight& n) { return n.start(); },
                               [](Nsight& n) { return n.processes(); },
                               [](Nsight& n) { return n.threadNames(); },
                               [](Nsight& n) { return n.work_.devices(); },
                               [](Nsight& n) { return n.work_.calls(); },
                               [](Nsight& n) { return n.work_.kernels(); },
                               [](Nsight& n) { return n.work_.copies(); },
                               [](Nsight& n) { return n.work_.sets(); },
                               [](Nsight& n) { return n.work_.graphs(); },
                               [](Nsight& n) { return n.work_.syncs(); },
                               [](Nsight& n) { return readNsightPageFaults(n.rows_); },
                               [](Nsight& n) { return n.systemCalls(); },
                               [](Nsight& n) { return n.overheads(); },
                               [](Nsight& n) { return n.ranges_.read(); },
                               [](Nsight& n) { return n.unread(); }};
    return readTables(*this, kSteps, builder_.tally());
  }

  Status start() {
    std::optional<std::int64_t> earliest;
    for (const std::string_view table : kEventTables) {
      auto first = PITWALL_TRY(database_.minimum(table, "start"));
      if (first && (!earliest || *first < *earliest)) earliest = *first;
    }
    if (earliest) builder_.clock().expectFrom(*earliest);
    constexpr std::array<std::string_view, 1> kColumns = {"utcEpochNs"};
    return rows_.visit("TARGET_INFO_SESSION_START_TIME", kColumns, [&](const ForeignRow& row) {
      const std::int64_t epoch = row.integer(0);
      if (epoch > 0 && epoch < kLatestNs) builder_.clock().wallClock(epoch);
    });
  }

  Status processes() {
    constexpr std::array<std::string_view, 2> kColumns = {"globalPid", "name"};
    return rows_.visit("PROCESSES", kColumns, [&](const ForeignRow& row) {
      if (!row.isNull(0)) builder_.tracks().nameProcess(rows_.process(row.integer(0)), row.text(1));
    });
  }

  Status threadNames() {
    constexpr std::array<std::string_view, 2> kColumns = {"globalTid", "nameId"};
    return rows_.visit("ThreadNames", kColumns, [&](const ForeignRow& row) {
      if (!row.isNull(0) && names_.haveStrings()) {
        builder_.tracks().nameThread(rows_.thread(row.integer(0)),
                                     names_.string(row.integer(1), "thread name"));
      }
    });
  }

  Status systemCalls() {
    constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
    return rows_.visit(kSystemCalls, kColumns, [&](const ForeignRow& row) {
      Event event = NsightRows::times(row);
      event.kind = EventKind::api;
      event.name = names_.callName(row.integer(3));
      builder_.add(rows_.thread(row.integer(2)), event);
    });
  }

  Status overheads() {
    constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
    for (const std::string_view table : {kOverheads, kCuptiOverheads}) {
      auto status = rows_.visit(table, kColumns, [&](const ForeignRow& row) {
        Event event = NsightRows::times(row);
        event.name = builder_.names().name(names_.string(row.integer(3), "overhead"));
        builder_.add(
            builder_.tracks().lane(rows_.process(globalProcess(row.integer(2))), "profiler overhead"), event);
      });
      PITWALL_TRY(status);
    }
    return {};
  }

  // Reports the other contents of the file.
  Status unread() {
    for (const std::string& table : database_.tables()) {
      if (contains(kEventTables, table) || contains(kOtherTables, table) || table.substr(0, 5) == "ENUM_" ||
          table.substr(0, 7) == "sqlite_") {
        continue;
      }
      auto rows = PITWALL_TRY(database_.rows(table));
      if (rows == 0) continue;
      builder_.tally().record(fmt::format("rows {}", table)) += rows;
      builder_.tally().notUnderstood("tables that are not read", fmt::format("{} ({} rows)", table, rows));
    }
    if (database_.has("META_DATA_CAPTURE") || database_.has("ProcessStreams") ||
        database_.has("TARGET_INFO_SYSTEM_ENV")) {
      builder_.tally().note(
          fmt::format("{}: of the environment only settings that Pitwall knows are imported, command "
                      "lines and the program's output not at all, since they may hold secrets",
                      builder_.tally().input().path));
    }
    return {};
  }

  ForeignDatabase& database_;
  const ImportOptions& options_;
  Builder& builder_;
  NsightNames names_;
  NsightProjection projection_;
  NsightRows rows_;
  NsightWork work_;
  NsightRanges ranges_;
};

}  // namespace

Status readNsight(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto database = PITWALL_TRY(ForeignDatabase::open(path));
  return Nsight(*database, options, builder).run();
}

}  // namespace pitwall::import
