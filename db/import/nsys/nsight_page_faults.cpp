#include "db/import/nsys/nsight_page_faults.h"

#include <array>
#include <string_view>

#include "db/try.h"
#include "db/unified_memory.h"

namespace pitwall::import {

namespace {

using store::ForeignRow;

constexpr std::string_view kRow = "unified memory: page faults";

Status gpuFaults(NsightRows& rows) {
  constexpr std::array<std::string_view, 6> kColumns = {
      "start", "end", "deviceId", "globalPid", "numberOfPageFaults", "faultAccessType"};
  Builder& builder = rows.builder();
  return rows.visit(nsight::kGpuPageFaults, kColumns, [&](const ForeignRow& row) {
    Event event = NsightRows::times(row);
    event.kind = EventKind::scope;
    event.name = builder.names().name(pageFaultName("GPU", row.integer(5)));
    event.value = row.integer(4);
    const std::int64_t index = row.integer(2);
    const DeviceRef device =
        builder.tracks().device("gpu", index >= 0 && index < 65536 ? static_cast<int>(index) : 0);
    builder.add(builder.tracks().deviceLane(rows.process(row.integer(3)), device, kRow), event);
  });
}

Status cpuFaults(NsightRows& rows) {
  constexpr std::array<std::string_view, 2> kColumns = {"start", "globalPid"};
  Builder& builder = rows.builder();
  return rows.visit(nsight::kCpuPageFaults, kColumns, [&](const ForeignRow& row) {
    Event event;
    event.start_ns = row.integer(0);
    event.kind = EventKind::instant;
    event.name = builder.names().name(pageFaultName("CPU", 0));
    builder.add(builder.tracks().lane(rows.process(row.integer(1)), kRow), event);
  });
}

}  // namespace

Status readNsightPageFaults(NsightRows& rows) {
  PITWALL_TRY(gpuFaults(rows));
  return cpuFaults(rows);
}

}  // namespace pitwall::import
