// The data model of a trace. Plain structs, standard library only; used by every producer (runtime,
// importers) and every consumer (store, analyzer, viewer).
//
// Times are TimeNs since the trace's start; sizes are Bytes. The structs own only their strings.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "db/ids.h"
#include "db/units.h"

namespace pitwall {

// The kind of an event. The numbers are stored in files: append, never renumber.
enum class EventKind : std::uint8_t {
  operatorRun = 0,  // one operator of the engine; pushed_ns, ready_ns and op are valid
  bulk = 1,         // a bulk segment on a worker; encloses its operators' events
  scope = 2,        // a named section of the program
  wait = 3,         // a thread blocked until an operator or all of them finished
  dataWait =
      4,  // the training thread waiting for its next batch (encloses dataWork when there is no prefetch)
  dataWork = 5,  // a thread making a batch (reading, decoding, shuffling, copying)
  instant = 6,   // a point in time; dur_ns is 0
  recorder = 7,  // Pitwall's own work (draining rings), so that the trace shows its cost
  api = 8,       // a call of a library (CUDA runtime, MXNet C API)
  kernel = 9,    // a kernel on a device stream
  copy = 10,     // a memory copy; value is bytes
  communication = 11,
};

// The part of a training step that an operator belongs to.
enum class Phase : std::uint8_t { none = 0, forward = 1, backward = 2, update = 3, data = 4 };

// Names as stored and shown ("operator", "data_wait", "forward", ...); never empty.
const char* toString(EventKind kind);
const char* toString(Phase phase);

struct Event {
  TimeNs start_ns = 0;
  TimeNs dur_ns = 0;
  TimeNs pushed_ns = 0;  // operatorRun: when the program handed it to the engine; else start_ns
  TimeNs ready_ns = 0;   // operatorRun: when its last dependency was satisfied; else start_ns
  CorrelationId correlation = 0;
  std::int64_t value = 0;  // depends on the kind (bytes of a copy, items of a batch), else 0
  StringId name = {};
  OperatorId op = {};    // facts of the operator; none for other kinds
  KernelId kernel = {};  // facts of the kernel; none where they are not known
  // A JSON object of further arguments, with snake_case keys; none = no arguments. Values that differ from
  // event to event do not belong there: each distinct text is stored once.
  StringId args = {};
  EventKind kind = EventKind::scope;
  std::uint16_t depth = 0;  // nesting on its track, 0 = outermost
};

enum class DependencyKind : std::uint8_t {
  readAfterWrite = 0,   // target reads what source wrote
  writeAfterRead = 1,   // target overwrites what source read
  writeAfterWrite = 2,  // target overwrites what source wrote
  launch = 3,           // host call -> device work
  batch = 4,            // producer of a batch -> its consumer
  flow = 5,             // an arrow of an imported trace, with its own meaning
};

const char* toString(DependencyKind kind);  // "read_after_write", ..., "launch", "batch"

struct Dependency {
  CorrelationId source = 0;  // must finish first
  CorrelationId target = 0;
  DependencyKind kind = DependencyKind::readAfterWrite;
};

struct CounterSample {
  TimeNs time_ns = 0;
  double value = 0;
};

struct ProcessInfo {
  std::int64_t pid = 0;
  std::string name;          // executable's base name
  std::string command_line;  // arguments joined by spaces
  int rank = 0;              // of a distributed job; 0 when alone
};

struct ThreadInfo {
  ProcessId process;
  std::int64_t tid = 0;  // the operating system's
  std::string name;      // "main", "cpu worker 0", "prefetch 1"
};

struct DeviceInfo {
  std::string kind;  // "cpu", "gpu"
  int index = 0;
  std::string name;  // marketing name
  Bytes memory_bytes = 0;
};

enum class TrackKind : std::uint8_t { thread = 0, stream = 1, counter = 2 };

const char* toString(TrackKind kind);  // "thread", "stream", "counter"

// A row of the timeline.
struct TrackInfo {
  TrackKind kind = TrackKind::thread;
  ProcessId process;
  ThreadId thread;   // kind thread
  DeviceId device;   // kind stream; of a thread the device whose operators it runs, if it is always the same
  std::string name;  // of a counter: "memory live: weights"
  std::string unit;  // of a counter: "bytes", "items"; else empty
};

// What is known about an operator without running it. One row per distinct combination, shared by its
// executions.
struct OperatorFacts {
  std::string name;            // operator type as the library spells it: "Convolution", "sgd_update"
  std::string layer;           // layer name in the network: "conv1"; may be empty
  std::string shapes;          // "64x1x28x28,20x1x5x5->64x20x24x24"
  std::string dtype;           // "float32"
  std::string backend;         // "onednn", "reference", "null"
  std::string implementation;  // what the backend chose: "jit:avx512_core"; may be empty
  Phase phase = Phase::none;
  Flop flop = 0;         // 0 = none or unknown
  Bytes bytes_read = 0;  // operands once each
  Bytes bytes_written = 0;
  friend bool operator==(const OperatorFacts&, const OperatorFacts&) = default;
};

// The launch configuration of a kernel and the resources it needs. One row per distinct combination, shared
// by its launches.
struct KernelFacts {
  std::array<std::int32_t, 3> grid = {};   // blocks, x, y, z; 0 = unknown
  std::array<std::int32_t, 3> block = {};  // threads of a block, x, y, z; 0 = unknown
  std::int32_t registers_per_thread = 0;   // 0 = unknown
  Bytes static_shared_bytes = 0;           // of a block
  Bytes dynamic_shared_bytes = 0;          // of a block
  Bytes local_bytes = 0;                   // of a thread
  double theoretical_occupancy = 0;        // share of the warps that fit, 0..1; 0 = unknown
  std::string limiter = {};  // what limits the occupancy: "registers"; empty = unknown or no limit
  friend bool operator==(const KernelFacts&, const KernelFacts&) = default;
};

// A function on a stack, at the line that it executes. One row per distinct combination.
struct FrameInfo {
  std::string function;   // "Trainer.step", "pitwall::Engine::run()"; of a state "waiting: lock"
  std::string file;       // source file, of native code the library or program; may be empty
  std::int32_t line = 0;  // 0 = unknown
  std::string language;   // "python", "native"; "state": not a function but what the thread does, always the
                          // innermost frame
  friend bool operator==(const FrameInfo&, const FrameInfo&) = default;
};

// The language of frames that name what a thread waits for; a stack without one is executing.
inline constexpr char kStateLanguage[] = "state";

// A stack: a frame and the stack that called it. Stacks with the same callers share their rows.
struct StackInfo {
  StackId caller;  // none = outermost; else of an earlier row
  FrameId frame;
  friend bool operator==(const StackInfo&, const StackInfo&) = default;
};

// The unit of counter tracks whose values are stacks: StackId.value of what a thread does from the sample's
// time to the next; 0 = unknown.
inline constexpr char kStackUnit[] = "stack";

enum class SettingSource : std::uint8_t { byDefault = 0, environment = 1, program = 2 };

const char* toString(SettingSource source);  // "default", "environment", "program"

// A setting as the recorded program used it.
struct SettingInEffect {
  std::string name;   // as its owner spells it
  std::string value;  // text; empty when unset and without default
  SettingSource source = SettingSource::byDefault;
};

// A number that the program chooses and has declared (Session::tunable); PITWALL_TUNE_<name> sets it.
struct TunableInEffect {
  std::string name;
  std::int64_t value = 0;
  std::int64_t default_value = 0;  // given in the program's source
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  SettingSource source = SettingSource::program;  // environment when PITWALL_TUNE_<name> set it
};

// The boundary before iteration `index`; iteration i is between marks i and i+1.
struct IterationMark {
  std::int64_t index = 0;
  TimeNs time_ns = 0;
  std::int64_t items = 0;  // images or samples of that iteration; 0 = unknown
};

// Data that should be in the trace and is missing.
struct Loss {
  TrackId track;  // none = the whole trace
  TimeNs from_ns = 0;
  TimeNs to_ns = 0;
  std::int64_t count = 0;
  std::string reason;  // "ring full", "disk full"
};

}  // namespace pitwall
