#include "db/import/nsys/nsight_work.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "db/import/input/text.h"
#include "db/try.h"
#include "db/unified_memory.h"

namespace pitwall::import {

using store::ForeignRow;

Status NsightWork::devices() {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "name", "totalMemory", "cuDevice"};
  auto status = rows_.visit("TARGET_INFO_GPU", kColumns, [&](const ForeignRow& row) {
    const std::int64_t index = row.isNull(3) ? row.integer(0) : row.integer(3);
    if (index < 0 || index > 65535) return;
    builder_.tracks().nameDevice(builder_.tracks().device("gpu", static_cast<int>(index)), row.text(1),
                                 std::max<std::int64_t>(0, row.integer(2)));
  });
  PITWALL_TRY(status);
  return kernels_.readDevices(rows_.database());
}

// Correlation numbers repeat between processes.
std::uint64_t NsightWork::launchKey(bool has_process, std::int64_t global_process, std::int64_t correlation) {
  if (correlation <= 0) return 0;
  const std::uint64_t index =
      has_process && device_tables_tell_process_ ? rows_.process(global_process).index + 1 : 0;
  return (index << 32) | (static_cast<std::uint64_t>(correlation) & 0xFFFFFFFF);
}

Status NsightWork::calls() {
  device_tables_tell_process_ = true;
  for (const std::string_view table : {nsight::kKernels, nsight::kCopies, nsight::kSets}) {
    if (rows_.database().has(table) && !rows_.database().has(table, "globalPid"))
      device_tables_tell_process_ = false;
  }
  has_ranges_ = rows_.database().has(nsight::kRanges);
  constexpr std::array<std::string_view, 6> kColumns = {"start",         "end",    "globalTid",
                                                        "correlationId", "nameId", "returnValue"};
  return rows_.visit(nsight::kCalls, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::api;
    event.name = names_.callName(row.integer(4));
    if (const std::int64_t returned = row.integer(5); returned != 0)
      event.args = builder_.names().args(fmt::format("{{\"return_value\":{}}}", returned));
    const std::uint64_t key = launchKey(true, globalProcess(row.integer(2)), row.integer(3));
    event.correlation = launches_.host(key);
    if (has_ranges_) projection_.launch(key, row.integer(2), event.start_ns);
    if (!device_tables_tell_process_)
      builder_.tracks().ownerProcess(rows_.process(globalProcess(row.integer(2))));
    builder_.add(rows_.thread(row.integer(2)), event);
  });
}

const NsightWork::Stream& NsightWork::stream(const ForeignRow& row) {
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
      const ProcessRef owner = key[2] == 0 ? Tracks::owner() : rows_.process(key[3]);
      return builder_.tracks().stream(owner, device, name, suffix);
    };
    found->second = {make({}), make("synchronisation"), make("NVTX")};
  }
  return last_stream_tracks_ = found->second;
}

void NsightWork::work(const ForeignRow& row, Event event) {
  const std::uint64_t key = launchKey(!row.isNull(5), row.integer(5), row.integer(4));
  event.correlation = launches_.device(key);
  const Stream& tracks = stream(row);
  if (builder_.add(tracks.work, event) && has_ranges_)
    projection_.work(key, tracks.ranges, event.start_ns,
                     event.start_ns + std::max<std::int64_t>(0, event.dur_ns));
}

Status NsightWork::kernels() {
  constexpr std::array<std::string_view, 8> kFirst = {
      "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "shortName", "demangledName"};
  std::array<std::string_view, kFirst.size() + NsightKernels::kColumns.size()> columns;
  std::copy(kFirst.begin(), kFirst.end(), columns.begin());
  std::copy(NsightKernels::kColumns.begin(), NsightKernels::kColumns.end(), columns.begin() + kFirst.size());
  return rows_.visit(nsight::kKernels, columns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    const NsightNames::Kernel& kernel = names_.kernel(row.isNull(6) ? row.integer(7) : row.integer(6));
    event.kind = kernel.collective ? EventKind::communication : EventKind::kernel;
    event.name = kernel.name;
    event.kernel = kernels_.factsOf(row, kFirst.size());
    work(row, event);
  });
}

Status NsightWork::copies() {
  constexpr std::array<std::string_view, 11> kColumns = {
      "start", "end",      "deviceId", "streamId", "correlationId", "globalPid",
      "bytes", "copyKind", "srcKind",  "dstKind",  "migrationCause"};
  return rows_.visit(nsight::kCopies, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::copy;
    event.value = row.integer(6);
    std::string name = "Memcpy " + names_.copyKind(row.integer(7));
    if (!row.isNull(8) && !row.isNull(9)) {
      name +=
          fmt::format(" ({} -> {})", names_.memoryKind(row.integer(8)), names_.memoryKind(row.integer(9)));
    }
    const std::int64_t cause = row.integer(10);
    event.name = builder_.names().name(migrationName(std::move(name), cause));
    if (const std::string why = migrationArguments(cause); !why.empty())
      event.args = builder_.names().args(why);
    work(row, event);
  });
}

Status NsightWork::sets() {
  constexpr std::array<std::string_view, 8> kColumns = {"start",         "end",       "deviceId", "streamId",
                                                        "correlationId", "globalPid", "bytes",    "memKind"};
  return rows_.visit(nsight::kSets, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::copy;
    event.value = row.integer(6);
    event.name = builder_.names().name(
        fmt::format("Memset ({})", row.isNull(7) ? "Device" : names_.memoryKind(row.integer(7))));
    work(row, event);
  });
}

// A graph recorded as a whole: its kernels are not in the file.
Status NsightWork::graphs() {
  constexpr std::array<std::string_view, 7> kColumns = {"start",         "end",       "deviceId", "streamId",
                                                        "correlationId", "globalPid", "graphId"};
  return rows_.visit(nsight::kGraphs, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::kernel;
    event.name = builder_.names().name(fmt::format("CUDA graph {}", row.integer(6)));
    work(row, event);
  });
}

Status NsightWork::syncs() {
  constexpr std::array<std::string_view, 7> kColumns = {"start",         "end",       "deviceId", "streamId",
                                                        "correlationId", "globalPid", "syncType"};
  return rows_.visit(nsight::kSyncs, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::wait;  // the host waits; the device does no work
    const std::string kind = names_.syncKind(row.integer(6));
    event.name = builder_.names().name(kind);
    event.args = builder_.names().args(fmt::format("{{\"cuda_sync_kind\":{}}}", cleanJsonString(kind)));
    builder_.add(stream(row).waits, event);
  });
}

}  // namespace pitwall::import
