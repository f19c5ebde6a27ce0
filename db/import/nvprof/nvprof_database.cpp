// Reads the database that nvprof -o and the NVIDIA Visual Profiler write. Its tables are named as those of
// Nsight Systems, but other columns, StringTable instead of StringIds, calls by number, and ranges in two rows.
#include "db/import/nvprof/nvprof_database.h"

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "db/import/build/launches.h"
#include "db/import/database_rows.h"
#include "db/import/kineto/meanings.h"
#include "db/import/nvprof/nvprof_calls.h"
#include "db/import/nvprof/nvprof_markers.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/occupancy.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

using store::ForeignDatabase;
using store::ForeignRow;

constexpr std::int64_t kUnixFromNs = 1'000'000'000'000'000'000;
constexpr std::string_view kNvprofPrefix = "CUPTI_ACTIVITY_KIND_";
constexpr std::array<std::string_view, 10> kNvprofRead = {"KERNEL", "CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2",
                                                          "MEMSET", "RUNTIME",           "DRIVER", "MARKER",
                                                          "DEVICE", "SYNCHRONIZATION"};
// Tables that say nothing which a trace could hold, or repeat it.
constexpr std::array<std::string_view, 6> kNvprofSilent = {"CONTEXT",          "NAME",    "STREAM", "MODULE",
                                                           "DEVICE_ATTRIBUTE", "FUNCTION"};

std::string activityTable(std::string_view name) { return std::string(kNvprofPrefix) + std::string(name); }

class Nvprof {
 public:
  Nvprof(ForeignDatabase& database, const ImportOptions& options, Builder& builder)
      : database_(database),
        options_(options),
        builder_(builder),
        rows_(database, options, builder),
        launches_(builder),
        markers_(
            rows_, builder, [this](std::int64_t id) { return text(id, "range"); },
            [this](std::int64_t process, std::int64_t id) { return thread(process, id); }) {}

  Status run();

 private:
  Status readAll();
  Status start();
  Status devices();
  Status calls(std::string_view name);
  Status kernels(std::string_view name);
  Status copies(std::string_view name);
  Status sets();
  Status syncs();
  Status unread();

  std::string text(std::int64_t id, std::string_view what);
  TrackRef thread(std::int64_t process, std::int64_t thread);
  TrackRef stream(const ForeignRow& row, std::size_t first, std::string_view suffix = {});
  KernelId kernelOf(const ForeignRow& row, std::size_t first, std::int64_t device);

  ForeignDatabase& database_;
  const ImportOptions& options_;
  Builder& builder_;
  DatabaseRows rows_;
  Launches launches_;
  NvprofMarkers markers_;
  DatabaseRows::Strings strings_;
  std::map<std::int64_t, MultiprocessorLimits> devices_;
};

std::string Nvprof::text(std::int64_t id, std::string_view what) {
  if (const auto found = strings_.find(id); found != strings_.end()) return found->second;
  builder_.tally().repaired("names that the table StringTable does not hold: replaced by their number",
                            fmt::format("{} {}", what, id));
  return fmt::format("{} {}", what, id);
}

TrackRef Nvprof::thread(std::int64_t process, std::int64_t thread) {
  const ProcessRef owner = builder_.tracks().process(std::to_string(process));
  builder_.tracks().keyIsPid(owner);
  builder_.tracks().ownerProcess(owner);
  return builder_.tracks().thread(owner, std::to_string(static_cast<std::uint32_t>(thread)));
}

TrackRef Nvprof::stream(const ForeignRow& row, std::size_t first, std::string_view suffix) {
  const std::int64_t device = row.integer(first);
  const DeviceRef gpu =
      builder_.tracks().device("gpu", device >= 0 && device < 65536 ? static_cast<int>(device) : 0);
  return builder_.tracks().stream(Tracks::owner(), gpu, std::to_string(row.integer(first + 1)), suffix);
}

Status Nvprof::start() {
  constexpr std::pair<std::string_view, std::string_view> kTimes[] = {
      {"KERNEL", "start"},    {"CONCURRENT_KERNEL", "start"},
      {"MEMCPY", "start"},    {"MEMCPY2", "start"},
      {"MEMSET", "start"},    {"RUNTIME", "start"},
      {"DRIVER", "start"},    {"SYNCHRONIZATION", "start"},
      {"MARKER", "timestamp"}};
  std::optional<std::int64_t> earliest;
  for (const auto& [name, column] : kTimes) {
    const auto first = PITWALL_TRY(database_.minimum(activityTable(name), column, 0));  // 0: not measured
    if (first && (!earliest || *first < *earliest)) earliest = *first;
  }
  if (!earliest) return {};
  builder_.clock().expectFrom(*earliest);
  const bool is_unix = *earliest > kUnixFromNs;
  if (is_unix) builder_.clock().wallClock(0);
  builder_.tally().input().clock = is_unix ? "nanoseconds since 1970" : "nanoseconds of the profiler's clock";
  return {};
}

Status Nvprof::devices() {
  constexpr std::array<std::string_view, 10> kColumns = {"id",
                                                         "name",
                                                         "globalMemorySize",
                                                         "computeCapabilityMajor",
                                                         "computeCapabilityMinor",
                                                         "numThreadsPerWarp",
                                                         "maxWarpsPerMultiprocessor",
                                                         "maxBlocksPerMultiprocessor",
                                                         "maxRegistersPerMultiprocessor",
                                                         "maxSharedMemoryPerMultiprocessor"};
  return rows_.visit(activityTable("DEVICE"), activityTable("DEVICE"), kColumns, [&](const ForeignRow& row) {
    const std::int64_t index = row.integer(0);
    if (index < 0 || index > 65535) return;
    builder_.tracks().nameDevice(builder_.tracks().device("gpu", static_cast<int>(index)),
                                 text(row.integer(1), "device"), std::max<std::int64_t>(0, row.integer(2)));
    MultiprocessorLimits limits;
    limits.compute_major = saneExtent(row.integer(3));
    limits.compute_minor = saneExtent(row.integer(4));
    if (!row.isNull(5)) limits.warp_size = saneExtent(row.integer(5));
    limits.warps = saneExtent(row.integer(6));
    limits.blocks = saneExtent(row.integer(7));
    limits.registers = limits.registers_per_block = saneExtent(row.integer(8));
    limits.shared_bytes = saneExtent(row.integer(9));
    devices_[index] = limits;
  });
}

// A driver call within a runtime call has the same number: the runtime's, which are read first, launch.
Status Nvprof::calls(std::string_view name) {
  constexpr std::array<std::string_view, 7> kColumns = {"start", "end",           "processId",  "threadId",
                                                        "cbid",  "correlationId", "returnValue"};
  const bool runtime = name == "RUNTIME";
  return rows_.visit(activityTable(name), activityTable(name), kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    event.kind = EventKind::api;
    event.name = builder_.names().name(runtime ? cudaRuntimeCall(row.integer(4))
                                               : fmt::format("CUDA driver call {}", row.integer(4)));
    if (const std::int64_t returned = row.integer(6); returned != 0)
      event.args = builder_.names().args(fmt::format("{{\"return_value\":{}}}", returned));
    if (const std::int64_t number = row.integer(5); number > 0)
      event.correlation = launches_.host(static_cast<std::uint64_t>(number));
    builder_.add(thread(row.integer(2), row.integer(3)), event);
  });
}

KernelId Nvprof::kernelOf(const ForeignRow& row, std::size_t first, std::int64_t device) {
  KernelFacts facts;
  facts.registers_per_thread = saneExtent(row.integer(first));
  for (std::size_t i = 0; i < 3; ++i) {
    facts.grid[i] = saneExtent(row.integer(first + 1 + i));
    facts.block[i] = saneExtent(row.integer(first + 4 + i));
  }
  facts.static_shared_bytes = saneExtent(row.integer(first + 7));
  facts.dynamic_shared_bytes = saneExtent(row.integer(first + 8));
  facts.local_bytes = saneExtent(row.integer(first + 9));
  if (const auto limits = devices_.find(device); limits != devices_.end()) {
    std::int64_t threads = 1;
    for (const std::int32_t extent : facts.block) threads *= std::min<std::int64_t>(extent, 65536);
    Occupancy occupancy = theoreticalOccupancy(
        limits->second,
        {threads, facts.registers_per_thread, facts.static_shared_bytes + facts.dynamic_shared_bytes, 0});
    facts.theoretical_occupancy = occupancy.share;
    facts.limiter = std::move(occupancy.limiter);
  }
  return builder_.names().kernel(facts);
}

Status Nvprof::kernels(std::string_view name) {
  constexpr std::array<std::string_view, 16> kColumns = {"start",
                                                         "end",
                                                         "deviceId",
                                                         "streamId",
                                                         "correlationId",
                                                         "name",
                                                         "registersPerThread",
                                                         "gridX",
                                                         "gridY",
                                                         "gridZ",
                                                         "blockX",
                                                         "blockY",
                                                         "blockZ",
                                                         "staticSharedMemory",
                                                         "dynamicSharedMemory",
                                                         "localMemoryPerThread"};
  return rows_.visit(activityTable(name), activityTable(name), kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    const std::string kernel = text(row.integer(5), "kernel");
    event.kind = isCollective(kernel) ? EventKind::communication : EventKind::kernel;
    event.name = builder_.names().name(kernel);
    event.kernel = kernelOf(row, 6, row.integer(2));
    if (row.integer(4) > 0) event.correlation = launches_.device(static_cast<std::uint64_t>(row.integer(4)));
    builder_.add(stream(row, 2), event);
  });
}

Status Nvprof::copies(std::string_view name) {
  constexpr std::array<std::string_view, 9> kColumns = {
      "start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind", "srcKind", "dstKind"};
  return rows_.visit(activityTable(name), activityTable(name), kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    event.kind = EventKind::copy;
    event.value = std::max<std::int64_t>(0, row.integer(5));
    event.name =
        builder_.names().name(fmt::format("Memcpy {} ({} -> {})", cuptiCopyKind(row.integer(6)),
                                          cuptiMemoryKind(row.integer(7)), cuptiMemoryKind(row.integer(8))));
    if (row.integer(4) > 0) event.correlation = launches_.device(static_cast<std::uint64_t>(row.integer(4)));
    builder_.add(stream(row, 2), event);
  });
}

Status Nvprof::sets() {
  constexpr std::array<std::string_view, 7> kColumns = {"start",         "end",   "deviceId",  "streamId",
                                                        "correlationId", "bytes", "memoryKind"};
  return rows_.visit(activityTable("MEMSET"), activityTable("MEMSET"), kColumns, [&](const ForeignRow& row) {
    const auto times = rows_.times(row);
    if (!times) return;
    Event event = *times;
    event.kind = EventKind::copy;
    event.value = std::max<std::int64_t>(0, row.integer(5));
    event.name = builder_.names().name(
        fmt::format("Memset ({})", row.isNull(6) ? "Device" : cuptiMemoryKind(row.integer(6))));
    if (row.integer(4) > 0) event.correlation = launches_.device(static_cast<std::uint64_t>(row.integer(4)));
    builder_.add(stream(row, 2), event);
  });
}

// The profile does not say on which thread: on a row of the process.
Status Nvprof::syncs() {
  constexpr std::array<std::string_view, 3> kColumns = {"start", "end", "type"};
  constexpr const char* kKinds[] = {"unknown", "Event sync", "Stream wait sync", "Stream sync",
                                    "Context sync"};
  return rows_.visit(activityTable("SYNCHRONIZATION"), activityTable("SYNCHRONIZATION"), kColumns,
                     [&](const ForeignRow& row) {
                       const auto times = rows_.times(row);
                       if (!times) return;
                       Event event = *times;
                       event.kind = EventKind::wait;
                       const std::int64_t kind = row.integer(2);
                       event.name = builder_.names().name(kind > 0 && kind < 5
                                                              ? std::string(kKinds[kind])
                                                              : fmt::format("synchronisation {}", kind));
                       builder_.add(builder_.tracks().lane(Tracks::owner(), "synchronisation"), event);
                     });
}

Status Nvprof::unread() {
  for (const std::string& name : database_.tables()) {
    if (!name.starts_with(kNvprofPrefix)) continue;
    const std::string_view kind = std::string_view(name).substr(kNvprofPrefix.size());
    const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), kind) != list.end(); };
    if (in(kNvprofRead) || in(kNvprofSilent)) continue;
    const std::int64_t rows = PITWALL_TRY(database_.rows(name));
    if (rows == 0) continue;
    builder_.tally().record(fmt::format("rows {}", name)) += rows;
    builder_.tally().notUnderstood("tables that are not read", fmt::format("{} ({} rows)", name, rows));
  }
  return {};
}

Status Nvprof::readAll() {
  using Step = Status (*)(Nvprof&);
  constexpr Step kSteps[] = {
      [](Nvprof& n) { return n.rows_.strings("StringTable", "_id_", "value", n.strings_); },
      [](Nvprof& n) { return n.start(); },
      [](Nvprof& n) { return n.devices(); },
      [](Nvprof& n) { return n.calls("RUNTIME"); },
      [](Nvprof& n) { return n.calls("DRIVER"); },
      [](Nvprof& n) { return n.kernels("KERNEL"); },
      [](Nvprof& n) { return n.kernels("CONCURRENT_KERNEL"); },
      [](Nvprof& n) { return n.copies("MEMCPY"); },
      [](Nvprof& n) { return n.copies("MEMCPY2"); },
      [](Nvprof& n) { return n.sets(); },
      [](Nvprof& n) { return n.syncs(); },
      [](Nvprof& n) { return n.markers_.read(activityTable("MARKER")); },
      [](Nvprof& n) { return n.unread(); }};
  return readTables(*this, kSteps, builder_.tally());
}

Status Nvprof::run() {
  builder_.tally().input().format = "nvprof database";
  builder_.meta(meta::kProducer, "nvprof");
  Status status = readAll();
  launches_.end();
  return status;
}

}  // namespace

bool isNvprofDatabase(const ForeignDatabase& database) {
  if (!database.has("StringTable") || database.has("StringIds")) return false;
  const std::vector<std::string> tables = database.tables();
  return std::any_of(tables.begin(), tables.end(),
                     [](const std::string& name) { return name.starts_with(kNvprofPrefix); });
}

bool isNvprofStart(std::string_view start) {
  const auto has = [&](std::string_view what) { return start.find(what) != std::string_view::npos; };
  return has("StringTable") && has(kNvprofPrefix) && !has("StringIds");
}

Status readNvprof(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto database = PITWALL_TRY(ForeignDatabase::open(path));
  return Nvprof(*database, options, builder).run();
}

}  // namespace pitwall::import
