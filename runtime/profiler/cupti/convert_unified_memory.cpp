#include "runtime/profiler/cupti/convert_unified_memory.h"

#include <optional>
#include <string>

#include "db/unified_memory.h"

namespace pitwall::cupti {

namespace {

using Record = CUpti_ActivityUnifiedMemoryCounter3;

std::optional<std::uint32_t> deviceOf(std::uint32_t id) {
  return id == CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID ? std::nullopt : std::optional(id);
}

// Null where the record has no time.
Activity* add(const Record& record, Ticks end, Activity::Place place, EventKind kind, const Text* name,
              Activities& into) {
  if (record.start == 0 || end < record.start) {
    ++into.without_time;
    return nullptr;
  }
  Activity& activity = into.events.emplace_back();
  activity.place = place;
  activity.kind = kind;
  activity.start = record.start;
  activity.end = end;
  activity.name = name;
  return &activity;
}

// On the device whose memory it fills or leaves; between devices on the one that gets the pages.
void migration(const Record& record, const char* direction, std::uint32_t device, Names& names,
               Activities& into) {
  const std::string copy = std::string("Memcpy UVM ") + direction + " (Managed -> Managed)";
  Activity* const activity = add(record, record.end, Activity::Place::migrations, EventKind::copy,
                                 names.text(migrationName(copy, record.flags)), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.value);
  activity->device = device;
  if (const std::string arguments = migrationArguments(record.flags); !arguments.empty())
    activity->args = names.text(arguments);
}

// Lasts until the GPU repeats the accesses that failed.
void gpuFault(const Record& record, Names& names, Activities& into) {
  Activity* const activity = add(record, record.end, Activity::Place::pageFaults, EventKind::scope,
                                 names.text(pageFaultName("GPU", record.flags)), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.value);
  activity->device = record.srcId;
}

void throttling(const Record& record, Names& names, Activities& into) {
  Activity* const activity = add(record, record.end, Activity::Place::pageFaults, EventKind::scope,
                                 names.text("page faults throttled"), into);
  if (activity != nullptr && (record.flags & CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU) == 0)
    activity->device = deviceOf(record.srcId);
}

Activity* instant(const Record& record, const Text* name, Activities& into) {
  return add(record, record.start, Activity::Place::pageFaults, EventKind::instant, name, into);
}

// Its value is a number of bytes.
void instantOfBytes(const Record& record, const char* name, std::optional<std::uint32_t> device, Names& names,
                    Activities& into) {
  Activity* const activity = instant(record, names.text(name), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.value);
  activity->device = device;
}

}  // namespace

void convertUnifiedMemory(const Record& record, Names& names, Activities& into) {
  into.uses_managed_memory = true;
  switch (record.counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      return migration(record, "HtoD", record.dstId, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      return migration(record, "DtoH", record.srcId, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      return migration(record, "DtoD", record.dstId, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT: return gpuFault(record, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
      (void)instant(record, names.text(pageFaultName("CPU", record.flags)), into);
      return;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING:
      return instantOfBytes(record, "pages move back and forth (thrashing)", {}, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING: return throttling(record, names, into);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
      return instantOfBytes(record, "pages mapped from another processor", deviceOf(record.dstId), names,
                            into);
    default: ++into.unknown; return;
  }
}

}  // namespace pitwall::cupti
