// Reads the SQLite export of Nsight Systems with any subset of its tables. Columns are found by name, so that
// older and newer exports are read as far as they are known.
//
// Environment variables, command lines and the program's output (TARGET_INFO_SYSTEM_ENV, META_DATA_CAPTURE,
// ProcessStreams) may hold secrets: only a short list of facts is read from the first, nothing from the
// others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "db/import/build/launches.h"
#include "db/import/input/text.h"
#include "db/import/nsys/nsight_kernels.h"
#include "db/import/nsys/nsight_payload.h"
#include "db/import/nsys/nsight_projection.h"
#include "db/import/nsys/nsight_tables.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/redact.h"
#include "db/settings.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using store::ForeignDatabase;
using store::ForeignRow;

constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::string_view kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr std::string_view kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr std::string_view kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr std::string_view kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr std::string_view kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr std::string_view kRanges = "NVTX_EVENTS";
constexpr std::string_view kSystemCalls = "OSRT_API";
constexpr std::string_view kOverheads = "PROFILER_OVERHEAD";
constexpr std::string_view kCuptiOverheads = "CUPTI_ACTIVITY_KIND_OVERHEAD";

constexpr std::array<std::string_view, 10> kEventTables = {
    kKernels, kCopies, kSets, kCalls, kSyncs, kGraphs, kRanges, kSystemCalls, kOverheads, kCuptiOverheads};
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
        launches_(builder),
        kernels_(builder),
        payload_(builder, names_),
        projection_(builder) {}

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
    launches_.end();
    if (!status.has_value()) {
      if (status.error().code != ErrorCode::corruptTrace) return status;
      builder_.tally().damaged(status.error().message);
    }
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
        fmt::format("{}: an SQLite database, but not one that Nsight Systems exported (its tables: {}{})",
                    builder_.tally().input().path,
                    fmt::join(tables.begin(), tables.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < tables.size() ? ", ..."
                    : shown == 0          ? "none"
                                          : ""));
  }

  Status readAll() {
    using Step = Status (Nsight::*)();
    constexpr Step kSteps[] = {&Nsight::about,       &Nsight::strings,   &Nsight::start,  &Nsight::processes,
                               &Nsight::threadNames, &Nsight::devices,   &Nsight::calls,  &Nsight::kernels,
                               &Nsight::copies,      &Nsight::sets,      &Nsight::graphs, &Nsight::syncs,
                               &Nsight::systemCalls, &Nsight::overheads, &Nsight::ranges, &Nsight::unread};
    std::optional<Failure> damage;
    for (const Step step : kSteps) {
      Status status = (this->*step)();
      if (status.has_value()) continue;
      if (status.error().code != ErrorCode::corruptTrace) return status;
      if (!damage) damage = fail(status.error());  // the other tables may still be readable
    }
    if (damage) return *damage;
    return {};
  }

  // Visits a table, counting its rows.
  template <class Visit>
  Status visit(std::string_view table, std::span<const std::string_view> columns, Visit row_visitor) {
    if (!database_.has(table)) return {};
    std::int64_t& rows = builder_.tally().record(fmt::format("rows {}", table));
    return database_.visit(table, columns, [&](const ForeignRow& row) -> Status {
      if ((++rows & 0xFFF) == 0 && options_.cancel != nullptr &&
          options_.cancel->load(std::memory_order_relaxed)) {
        return fail(ErrorCode::cancelled,
                    fmt::format("{}: import interrupted", builder_.tally().input().path));
      }
      row_visitor(row);
      return {};
    });
  }

  Status about() {
    constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
    std::string product;
    auto status = visit("META_DATA_EXPORT", kColumns, [&](const ForeignRow& row) {
      if (row.text(0) == "EXPORT_PRODUCT_VERSION") product = std::string(row.text(1));
      if (row.text(0) == "EXPORT_SCHEMA_VERSION")
        builder_.tally().input().version = fmt::format("schema {}", row.text(1));
    });
    if (!product.empty()) builder_.tally().input().version += fmt::format(", nsys {}", product);
    builder_.meta(meta::kProducer, product.empty() ? "Nsight Systems" : "nsys " + product);
    PITWALL_TRY(status);
    return visit("TARGET_INFO_SYSTEM_ENV", kColumns, [&](const ForeignRow& row) {
      constexpr std::array<std::pair<std::string_view, const char*>, 6> kKept = {
          {{"CpuCores", meta::kLogicalCpus},
           {"CpuDescription", meta::kCpuModel},
           {"OsDescription", meta::kHostOs},
           {"Hostname", meta::kHostName},
           {"NvDriverVersion", "nvidia.driver"},
           {"CudaDriverVersion", "cuda.driver"}}};
      for (const auto& [name, key] : kKept) {
        if (row.text(0) == name && !row.text(1).empty()) builder_.meta(key, row.text(1));
      }
      if (row.text(0) == "DeviceEnvironment") environment(row.text(1));
    });
  }

  // NAME=VALUE;NAME=VALUE: only variables that are known settings, since others may hold secrets. The values
  // of settings are redacted too.
  void environment(std::string_view text) {
    std::int64_t kept = 0;
    std::int64_t others = 0;
    while (!text.empty() && builder_.isFirstInput()) {
      const std::string_view entry = text.substr(0, text.find(';'));
      text.remove_prefix(std::min(text.size(), entry.size() + 1));
      const std::size_t equals = entry.find('=');
      if (equals == std::string_view::npos || findSetting(entry.substr(0, equals)) == nullptr) {
        ++others;
        continue;
      }
      std::string name, value;
      appendClean(entry.substr(0, equals), name);
      appendClean(redactValue(name, entry.substr(equals + 1)), value);
      builder_.sink().setting({name, value, SettingSource::environment});
      ++kept;
    }
    if (kept > 0) builder_.tally().record("environment variables that are settings") += kept;
    if (others > 0) builder_.tally().record("environment variables left out") += others;
  }

  Status strings() { return names_.read(options_.limits); }

  Status start() {
    std::optional<std::int64_t> earliest;
    for (const std::string_view table : kEventTables) {
      auto first = PITWALL_TRY(database_.minimum(table, "start"));
      if (first && (!earliest || *first < *earliest)) earliest = *first;
    }
    if (earliest) builder_.clock().expectFrom(*earliest);
    constexpr std::array<std::string_view, 1> kColumns = {"utcEpochNs"};
    return visit("TARGET_INFO_SESSION_START_TIME", kColumns, [&](const ForeignRow& row) {
      const std::int64_t epoch = row.integer(0);
      if (epoch > 0 && epoch < kLatestNs) builder_.clock().wallClock(epoch);
    });
  }

  ProcessRef process(std::int64_t global) {
    return processes_.get(global, [&] {
      const ProcessRef made = builder_.tracks().process(std::to_string(global));
      builder_.tracks().setPid(made, pidOf(global));
      return made;
    });
  }

  TrackRef thread(std::int64_t global_tid) {
    return threads_.get(global_tid, [&] {
      return builder_.tracks().thread(process(globalProcess(global_tid)), std::to_string(tidOf(global_tid)));
    });
  }

  Status processes() {
    constexpr std::array<std::string_view, 2> kColumns = {"globalPid", "name"};
    return visit("PROCESSES", kColumns, [&](const ForeignRow& row) {
      if (!row.isNull(0)) builder_.tracks().nameProcess(process(row.integer(0)), row.text(1));
    });
  }

  Status threadNames() {
    constexpr std::array<std::string_view, 2> kColumns = {"globalTid", "nameId"};
    return visit("ThreadNames", kColumns, [&](const ForeignRow& row) {
      if (!row.isNull(0) && names_.haveStrings()) {
        builder_.tracks().nameThread(thread(row.integer(0)), names_.string(row.integer(1), "thread name"));
      }
    });
  }

  Status devices() {
    constexpr std::array<std::string_view, 4> kColumns = {"id", "name", "totalMemory", "cuDevice"};
    auto status = visit("TARGET_INFO_GPU", kColumns, [&](const ForeignRow& row) {
      const std::int64_t index = row.isNull(3) ? row.integer(0) : row.integer(3);
      if (index < 0 || index > 65535) return;
      builder_.tracks().nameDevice(builder_.tracks().device("gpu", static_cast<int>(index)), row.text(1),
                                   std::max<std::int64_t>(0, row.integer(2)));
    });
    PITWALL_TRY(status);
    return kernels_.readDevices(database_);
  }

  // Correlation numbers repeat between processes.
  std::uint64_t launchKey(bool has_process, std::int64_t global_process, std::int64_t correlation) {
    if (correlation <= 0) return 0;
    const std::uint64_t index =
        has_process && device_tables_tell_process_ ? process(global_process).index + 1 : 0;
    return (index << 32) | (static_cast<std::uint64_t>(correlation) & 0xFFFFFFFF);
  }

  Status calls() {
    device_tables_tell_process_ = true;
    for (const std::string_view table : {kKernels, kCopies, kSets}) {
      if (database_.has(table) && !database_.has(table, "globalPid")) device_tables_tell_process_ = false;
    }
    has_ranges_ = database_.has(kRanges);
    constexpr std::array<std::string_view, 6> kColumns = {"start",         "end",    "globalTid",
                                                          "correlationId", "nameId", "returnValue"};
    return visit(kCalls, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::api;
      event.name = names_.callName(row.integer(4));
      if (const std::int64_t returned = row.integer(5); returned != 0)
        event.args = builder_.names().args(fmt::format("{{\"return_value\":{}}}", returned));
      const std::uint64_t key = launchKey(true, globalProcess(row.integer(2)), row.integer(3));
      event.correlation = launches_.host(key);
      if (has_ranges_) projection_.launch(key, row.integer(2), event.start_ns);
      if (!device_tables_tell_process_)
        builder_.tracks().ownerProcess(process(globalProcess(row.integer(2))));
      builder_.add(thread(row.integer(2)), event);
    });
  }

  static Event times(const ForeignRow& row) {
    Event event;
    event.start_ns = row.integer(0);
    const std::int64_t end = row.isNull(1) ? event.start_ns : row.integer(1);
    // Clamped: a difference of values from a file may overflow.
    constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;
    const bool wild = end > kFar || end < -kFar || event.start_ns > kFar || event.start_ns < -kFar;
    event.dur_ns = wild ? std::numeric_limits<std::int64_t>::max() : end - event.start_ns;
    return event;
  }

  // The columns that every table of device work begins with, here: start, end, deviceId, streamId,
  // correlationId, globalPid.
  struct Stream {
    TrackRef work;
    TrackRef waits;   // synchronisation
    TrackRef ranges;  // projected
  };
  const Stream& stream(const ForeignRow& row) {
    const std::array<std::int64_t, 4> key = {row.integer(2), row.integer(3), row.isNull(5) ? 0 : 1,
                                             row.integer(5)};
    if (key == last_stream_ && !streams_.empty()) return last_stream_tracks_;
    last_stream_ = key;
    const auto [found, fresh] = streams_.try_emplace(key);
    if (fresh) {
      const DeviceRef device =
          builder_.tracks().device("gpu", key[0] >= 0 && key[0] < 65536 ? static_cast<int>(key[0]) : 0);
      const std::string name = std::to_string(key[1]);
      const auto make = [&](std::string_view suffix) {
        const ProcessRef owner = key[2] == 0 ? Tracks::owner() : process(key[3]);
        return builder_.tracks().stream(owner, device, name, suffix);
      };
      found->second = {make({}), make("synchronisation"), make("NVTX")};
    }
    return last_stream_tracks_ = found->second;
  }

  // Work of a device: the columns start, end, deviceId, streamId, correlationId, globalPid come first.
  void work(const ForeignRow& row, Event event) {
    const std::uint64_t key = launchKey(!row.isNull(5), row.integer(5), row.integer(4));
    event.correlation = launches_.device(key);
    const Stream& tracks = stream(row);
    if (builder_.add(tracks.work, event) && has_ranges_)
      projection_.work(key, tracks.ranges, event.start_ns,
                       event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
  }

  Status kernels() {
    constexpr std::array<std::string_view, 8> kFirst = {
        "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "shortName", "demangledName"};
    std::array<std::string_view, kFirst.size() + NsightKernels::kColumns.size()> columns;
    std::copy(kFirst.begin(), kFirst.end(), columns.begin());
    std::copy(NsightKernels::kColumns.begin(), NsightKernels::kColumns.end(),
              columns.begin() + kFirst.size());
    return visit(kKernels, columns, [&](const ForeignRow& row) {
      Event event = times(row);
      const NsightNames::Kernel& kernel = names_.kernel(row.isNull(6) ? row.integer(7) : row.integer(6));
      event.kind = kernel.collective ? EventKind::communication : EventKind::kernel;
      event.name = kernel.name;
      event.kernel = kernels_.factsOf(row, kFirst.size());
      work(row, event);
    });
  }

  Status copies() {
    constexpr std::array<std::string_view, 10> kColumns = {
        "start",     "end",   "deviceId", "streamId", "correlationId",
        "globalPid", "bytes", "copyKind", "srcKind",  "dstKind"};
    return visit(kCopies, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::copy;
      event.value = row.integer(6);
      std::string name = "Memcpy " + names_.copyKind(row.integer(7));
      if (!row.isNull(8) && !row.isNull(9)) {
        name +=
            fmt::format(" ({} -> {})", names_.memoryKind(row.integer(8)), names_.memoryKind(row.integer(9)));
      }
      event.name = builder_.names().name(name);
      work(row, event);
    });
  }

  Status sets() {
    constexpr std::array<std::string_view, 8> kColumns = {
        "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "memKind"};
    return visit(kSets, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::copy;
      event.value = row.integer(6);
      event.name = builder_.names().name(
          fmt::format("Memset ({})", row.isNull(7) ? "Device" : names_.memoryKind(row.integer(7))));
      work(row, event);
    });
  }

  // A graph recorded as a whole: its kernels are not in the file.
  Status graphs() {
    constexpr std::array<std::string_view, 7> kColumns = {
        "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"};
    return visit(kGraphs, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::kernel;
      event.name = builder_.names().name(fmt::format("CUDA graph {}", row.integer(6)));
      work(row, event);
    });
  }

  Status syncs() {
    constexpr std::array<std::string_view, 7> kColumns = {
        "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType"};
    return visit(kSyncs, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::wait;  // the host waits; the device does no work
      const std::string kind = names_.syncKind(row.integer(6));
      event.name = builder_.names().name(kind);
      event.args = builder_.names().args(fmt::format("{{\"cuda_sync_kind\":{}}}", cleanJsonString(kind)));
      builder_.add(stream(row).waits, event);
    });
  }

  Status systemCalls() {
    constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
    return visit(kSystemCalls, kColumns, [&](const ForeignRow& row) {
      Event event = times(row);
      event.kind = EventKind::api;
      event.name = names_.callName(row.integer(3));
      builder_.add(thread(row.integer(2)), event);
    });
  }

  Status overheads() {
    constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
    for (const std::string_view table : {kOverheads, kCuptiOverheads}) {
      auto status = visit(table, kColumns, [&](const ForeignRow& row) {
        Event event = times(row);
        event.name = builder_.names().name(names_.string(row.integer(3), "overhead"));
        builder_.add(builder_.tracks().lane(process(globalProcess(row.integer(2))), "profiler overhead"),
                     event);
      });
      PITWALL_TRY(status);
    }
    return {};
  }

  // Domains are named by separate rows.
  Status domains() {
    constexpr std::array<std::string_view, 5> kColumns = {"eventType", "domainId", "text", "textId",
                                                          "globalTid"};
    if (!database_.has(kRanges, "domainId")) return {};
    return database_.visit(kRanges, kColumns, [&](const ForeignRow& row) -> Status {
      if (row.integer(0) != 75 || domains_.size() >= 4096) return {};
      const std::string name =
          row.isNull(2) ? names_.string(row.integer(3), "domain") : std::string(row.text(2));
      domains_[{globalProcess(row.integer(4)), row.integer(1)}] = name;
      return {};
    });
  }

  static constexpr std::array<std::string_view, 8> kRangeColumns = {
      "start", "end", "globalTid", "eventType", "text", "textId", "domainId", "color"};
  StringId rangeArgs(std::int64_t process, const ForeignRow& row, Event& event) {
    std::string text;
    if (const auto domain = domains_.find({process, row.integer(6)}); domain != domains_.end())
      text = fmt::format("\"domain\":{}", cleanJsonString(domain->second));
    if (const std::int64_t color = row.integer(7); color != 0)
      text += fmt::format("{}\"color\":\"#{:06x}\"", text.empty() ? "" : ",", color & 0xFFFFFF);
    payload_.read(row, kRangeColumns.size(), event, text);
    return text.empty() ? StringId{} : builder_.names().args("{" + text + "}");
  }

  Status ranges() {
    projection_.sort();
    PITWALL_TRY(domains());
    std::array<std::string_view, kRangeColumns.size() + NsightPayload::kColumns.size()> columns;
    std::copy(NsightPayload::kColumns.begin(), NsightPayload::kColumns.end(),
              std::copy(kRangeColumns.begin(), kRangeColumns.end(), columns.begin()));
    auto status = visit(kRanges, columns, [&](const ForeignRow& row) { range(row); });
    for (auto& [thread, track, event] : open_) {
      builder_.tally().repaired("ranges without an end: taken as lasting to the end of the trace", "NVTX");
      event.dur_ns = std::max<std::int64_t>(0, builder_.clock().latest() - event.start_ns);
      builder_.add(track, event);
      projection_.range(thread, event);
    }
    projection_.end();
    return status;
  }

  void range(const ForeignRow& row) {
    const std::int64_t type = row.isNull(3) ? 59 : row.integer(3);
    if (type == 33 || type == 75) return;  // names of categories and domains
    Event event = times(row);
    const bool own_text = !row.isNull(4);
    event.name = own_text ? builder_.names().name(row.text(4)) : names_.rangeName(row.integer(5));
    event.args = rangeArgs(globalProcess(row.integer(2)), row, event);
    if (type == 34) {
      event.kind = EventKind::instant;
      event.dur_ns = 0;
      builder_.add(thread(row.integer(2)), event);
      return;
    }
    if (type != 59 && type != 60 && type != 70 && type != 71) {
      builder_.tally().notUnderstood("NVTX events of other types", fmt::format("eventType {}", type));
      return;
    }
    // Start/end ranges may overlap and end on another thread.
    const bool nested = type == 59 || type == 70;
    const TrackRef track =
        nested ? thread(row.integer(2))
               : builder_.tracks().lane(process(globalProcess(row.integer(2))), "NVTX start/end ranges");
    if (row.isNull(1)) {
      open_.push_back({row.integer(2), track, event});
      return;
    }
    const auto step = own_text ? stepNumber(row.text(4)) : names_.rangeStep(row.integer(5));
    if (step) {
      builder_.mark(*step, event.start_ns);
      builder_.mark(*step + 1, event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
    }
    if (builder_.add(track, event)) projection_.range(row.integer(2), event);
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
  Launches launches_;
  NsightKernels kernels_;
  NsightPayload payload_;
  NsightProjection projection_;
  RecentIds<ProcessRef> processes_;
  RecentIds<TrackRef> threads_;
  std::map<std::array<std::int64_t, 4>, Stream> streams_;
  std::array<std::int64_t, 4> last_stream_{};
  Stream last_stream_tracks_;
  struct OpenRange {
    std::int64_t thread = 0;
    TrackRef track;
    Event event;
  };
  std::vector<OpenRange> open_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;  // process, number -> name
  bool has_ranges_ = false;
  bool device_tables_tell_process_ = true;
};

}  // namespace

Status readNsight(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto database = PITWALL_TRY(ForeignDatabase::open(path));
  return Nsight(*database, options, builder).run();
}

}  // namespace pitwall::import
