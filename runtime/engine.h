// The asynchronous dependency engine: operators declare which variables they read and write; the engine runs
// each as soon as all earlier operators on those variables in program order have finished. Many readers at
// once, one writer at a time, strict program order per variable.
//
// Errors belong to an operator: a failed operator's written variables carry its Error, operators that depend
// on them are skipped and pass it on, and each Error surfaces exactly once: at the first wait that covers one
// of its variables, else at waitForAll(), which reports all remaining ones.
//
// Threads: push, newVariable, deleteVariable and the waits may be called from any thread; program order is
// the order of one thread's pushes. Operators must not wait on the engine that runs them.
//
// An operator whose function gets a Completion (runtime/operator_function.h) is open until that is called:
// its variables stay in use, waits include it, and the recorded event ends then. Unless it had completed when its
// function returned, the event is on a track of its device, such as "cpu 1 asynchronous", not on a thread's. Its worker
// runs other operators meanwhile; the naive engine waits inside push() instead. It is never bulked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "db/event.h"
#include "db/result.h"
#include "db/settings.h"
#include "runtime/device.h"
#include "runtime/operator_function.h"
#include "runtime/profiler.h"

namespace pitwall {

namespace engine {
struct VariableState;  // runtime/engine/variable.h
}

// A variable that orders operators. A plain handle: copies refer to the same variable; deleteVariable() ends
// it.
struct Variable {
  engine::VariableState* state = nullptr;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// The class of an operator; determines the pool that runs it (names of MXNet's FnProperty in brackets).
enum class OperatorClass : std::uint8_t {
  normal,       // [kNormal] the only class that bulk segments take
  copyFromGpu,  // [kCopyFromGPU]
  copyToGpu,    // [kCopyToGPU]
  prioritized,  // [kCPUPrioritized, kGPUPrioritized] runs in the device's priority pool, higher priority
                // first
  inlineAsync,  // [kAsync] runs on the pusher when ready at push time
  deletion,     // [kDeleteVar] never skipped on error; goes to the front of the queue
  noSkip,       // [kNoSkip] runs even when an input failed
};

// One operator to run. Spans are read during push() only. A variable may appear in both lists or twice in
// one; it then counts once, as written to.
struct OperatorDesc {
  OperatorFunction run;
  std::span<const Variable> reads = {};
  std::span<const Variable> writes = {};
  OperatorId facts = {};  // Profiler::operatorFacts; none = "operator"
  Device device = {};
  OperatorClass operator_class = OperatorClass::normal;
  int priority = 0;  // higher first; used only by prioritized pools
};

enum class EngineType : std::uint8_t { naive, threaded, threadedPerDevice };

// A place in a stream of a GPU; handles as runtime/gpu.h has them.
struct StreamPlace {
  void* stream = nullptr;
  void* event = nullptr;
};

// How the work of operators of GPUs follows other work on streams. Called on the operators' threads; must not throw.
class StreamOrder {
 public:
  virtual ~StreamOrder() = default;
  // The calling thread's stream of the device: what is put on it next starts after these places. nullptr: there is no such
  // device, as the operator's function will report.
  virtual Result<void*> enter(Device device, std::span<const StreamPlace> after) = 0;
  // Calls `completion` when all that the thread has put on this stream is done. The event at that place; nullptr where it is
  // done already.
  virtual void* finish(Device device, Completion completion) = 0;
};

struct EngineOptions {
  EngineType type = EngineType::threadedPerDevice;  // MXNET_ENGINE_TYPE
  int cpu_workers = 1;                              // MXNET_CPU_WORKER_NTHREADS, per cpu device index
  int cpu_priority_workers = 4;                     // MXNET_CPU_PRIORITY_NTHREADS
  int gpu_workers = 2;                              // MXNET_GPU_WORKER_NTHREADS
  int gpu_copy_workers = 2;                         // MXNET_GPU_COPY_NTHREADS
  int pooled_workers = 16;    // EngineType::threaded; MXNet hard-codes 16 (+ 1 for copies)
  bool prints_waits = false;  // MXNET_ENGINE_INFO: what waitForVariable() waits for, on standard error
  // Runs first on every thread that the engine starts and that runs operators, before its first operator (for
  // per-thread state, such as its number of OpenMP threads). Must not throw.
  std::function<void()> on_worker_start = {};
  // Runs before each operator of a GPU, on its thread, while the profiler records. Must not throw.
  std::function<void()> before_gpu_operator = {};
  // Where functions of operators of GPUs leave work on streams. Such an operator, or a bulk segment of them, is open until its
  // work is done; operators of GPUs that use its variables start before, behind it on their streams, except those of class
  // copyFromGpu. Not for the classes inlineAsync and deletion. nullptr = all work is done when functions return. Must outlive the
  // engine.
  StreamOrder* streams = nullptr;

  // Errors: invalidInput naming variable, value and the allowed values.
  static Result<EngineOptions> fromSettings(const Settings& settings);
};

class Engine {
 public:
  // `profiler` must outlive the engine.
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options, Profiler& profiler);
  virtual ~Engine() = default;  // waits for all, stops

  virtual Variable newVariable() = 0;
  // Ends a variable after all operators pushed on it have run; `then` (may be empty) runs last, on any
  // thread.
  virtual void deleteVariable(Variable variable, OperatorFunction then = {}) = 0;
  // Completed writes of a variable, deletion included. Exact after waitForVariable.
  virtual std::uint64_t version(Variable variable) const = 0;

  virtual void push(OperatorDesc op) = 0;

  // Waits until every write pushed on `variable` has finished (readers may still run). Flushes this thread's
  // bulk.
  virtual Status waitForVariable(Variable variable) = 0;
  virtual Status waitForAll() = 0;

  // Stops all threads after finishing all pushed operators; start() creates them again. For use around
  // fork().
  virtual void stop() = 0;
  virtual Status start(const EngineOptions& options) = 0;

  // Sets the bulk size of the calling thread: up to `size` following operators of class normal, priority 0
  // and one device, without a Completion, run as one segment. 0 or 1 = off. Returns the old size. A lower
  // size flushes. Every other push and every wait flush. The naive engine ignores it.
  virtual int setBulkSize(int size) = 0;

  virtual EngineType type() const = 0;
};

const char* toString(EngineType type);  // MXNet's spelling: "NaiveEngine", ...

// Bulks the operators pushed by this thread during its lifetime.
class BulkScope {
 public:
  BulkScope(Engine& engine, int size) : engine_(engine), previous_(engine.setBulkSize(size)) {}
  ~BulkScope() { engine_.setBulkSize(previous_); }
  BulkScope(const BulkScope&) = delete;
  BulkScope& operator=(const BulkScope&) = delete;

 private:
  Engine& engine_;
  int previous_;
};

}  // namespace pitwall
