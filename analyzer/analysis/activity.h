// Sums of a trace's events, computed in one pass, track after track and column by column, so that at most
// one chunk of them is decoded at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/analysis/intervals.h"
#include "analyzer/analysis/reading.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

inline bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

enum class WorkClass : std::uint8_t { computation, communication, copy };
const char* toString(WorkClass work);

// A kernel, collective or copy on a device stream.
struct DeviceWork {
  TimeNs start_ns = 0, end_ns = 0;
  CorrelationId correlation = 0;  // of its launch; 0 = none
  std::int64_t value = 0;         // bytes of a copy or collective
  StringId name;
  StringId args;
  TrackId track;
  std::uint32_t kernel = 0;  // KernelId.value, 0 = none
  WorkClass work = WorkClass::computation;
  bool sets_memory = false;  // a memset: no kernel, though it takes the device's time like one
};

// A call of a library on a host thread.
struct HostCall {
  TimeNs start_ns = 0, end_ns = 0;
  CorrelationId correlation = 0;
  StringId name;
  TrackId track;
};

// What a name means to rules, derived from its spelling.
enum NameMeaning : std::uint8_t {
  kNoMeaning = 0,
  kSynchronises = 1,     // a call that blocks until the device is done
  kReadsData = 2,        // a range in which the program waits for its next batch
  kTransfers = 4,        // an operator that moves data between devices: CopyCPU2GPU, KVStorePush
  kAnnotatesStep = 8,    // ProfilerStep#7
  kBeginsStep = 32,      // a range that a program has once per step
  kSetsMemory = 64,      // a memset on a device
  kLaunches = 16,        // cudaLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch
  kLaunchesGraph = 128,  // cudaGraphLaunch: many kernels by one call
};
// A memset is device work like a kernel, although it is recorded as a copy.
WorkClass workClassOf(EventKind kind, std::uint8_t meaning);
bool worksOnDevice(EventKind kind);
std::uint8_t meaningOf(std::string_view name, EventKind kind);

struct NameTotal {
  StringId name;
  EventKind kind = EventKind::scope;
  TrackKind track_kind = TrackKind::thread;
  ProcessId process;
  std::int64_t count = 0, items = 0;  // items: sum of the events' values
  TimeNs total_ns = 0, min_ns = 0, max_ns = 0;
};

// A range or wait in which the program gets its next batch.
struct BatchWait {
  StringId name;
  Interval time;
};

struct TrackActivity {
  TrackId id;
  std::int64_t events = 0, operators = 0, calls = 0, waits = 0, data_waits = 0, device_work = 0,
               data_works = 0;
  TimeNs operator_ns = 0, operator_after_marks_ns = 0;  // after: of those that start after the last mark
  TimeNs recorder_ns = 0;
  TimeNs first_ns = 0, last_ns = 0;  // of all but the recorder's own work
  Intervals data_wait_list, wait_list, bulk_list;
  Intervals communication_list;        // that the thread carries out
  std::vector<BatchWait> batch_waits;  // what data_wait_list unites
  Intervals data_work_list;            // each making of a batch, without its parts; in order of time
  Intervals sync_list;                 // calls that wait for a device
  Intervals step_list;                 // steps annotated on a device's stream
};

// Of a range that begins a step.
struct StepStart {
  StringId name;
  TrackId track;
  TimeNs start_ns = 0;
};

// Sums, and lists of what is rare. All others are read one time chunk after the other
// (analyzer/analysis/time_chunks.h).
struct Activity {
  std::vector<TrackActivity> tracks;  // of kind thread and stream
  std::vector<NameTotal> names;
  std::vector<StepStart> steps;  // of ranges that begin a step
  std::vector<TimeNs> cuts;      // of the time chunks, ascending; one less than there are time chunks
  // By process and time chunk: the earliest push of any operator that starts in it; the greatest time for
  // none.
  std::map<ProcessId, std::vector<TimeNs>> earliest_push;
};

// Errors: corruptTrace; cancelled.
Result<Activity> gatherActivity(Trace& trace, const Reading& reading = {});

}  // namespace pitwall::analysis
