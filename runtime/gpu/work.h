// What a session's threads need to put work on its GPUs: a stream for each thread and device, workspaces, memory for problems
// that kernels report, and the end of the work.
//
// An operator of a GPU puts its work on the stream of its thread and returns. The engine then hands its Completion to
// finish(), which records an event behind the work. The operators of a bulk segment follow each other on one stream without
// a look from the host; the segment has one event.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "runtime/engine.h"
#include "runtime/gpu.h"
#include "runtime/gpu/completer.h"
#include "runtime/memory.h"
#include "runtime/operator_function.h"

namespace pitwall {

// One thread's part on one device. Only that thread uses it.
struct GpuThread {
  int device = 0;
  GpuStream stream = nullptr;
  Block workspace;

  // Until the work that was put on the stream is done: blocks that nothing else may get, and problems that may come.
  struct Check {
    GpuProblem* problem;
    std::function<Status(const GpuProblem&)> explain;  // the problem as an error
  };
  std::vector<Block> kept;
  std::vector<Check> checks;

  int open = 0;  // operators whose work is not done; guarded by the GpuWork
};

class GpuWork {
 public:
  using StorageOf = std::function<Result<Storage*>(Device)>;
  // `driver` and the storages outlive it.
  GpuWork(GpuDriver& driver, StorageOf storage_of);
  // Precondition: all work is done.
  ~GpuWork();
  GpuWork(const GpuWork&) = delete;
  GpuWork& operator=(const GpuWork&) = delete;

  GpuDriver& driver() { return driver_; }

  // The calling thread's, which uses the device from now on. Errors: those of the driver, naming the device.
  Result<GpuThread*> here(Device device);

  // At least `bytes` bytes for the work that is put on the stream next. Errors: those of Storage::allocate.
  Result<void*> workspace(GpuThread& thread, Bytes bytes);

  // Cleared memory for a problem of the work that is put on the stream next.
  Result<GpuProblem*> problem(GpuThread& thread, std::function<Status(const GpuProblem&)> explain);

  // The calling thread's stream, whose later work starts after these places. Waits while the stream has very much to do.
  // Errors: those of the driver, naming the device.
  Result<GpuStream> enter(Device device, std::span<const StreamPlace> after);

  // Waits for the end of an operator's work, after which blocks are freed. False: no work is open, or was a moment ago.
  bool waitForFrees();

  // A stream that is no thread's, for work of several devices together. The caller destroys it. Errors: those of the driver, naming
  // the device.
  Result<GpuStream> openStream(Device device);
  // Calls `done` after all that is on such a stream, on the completer's thread. After an error it is not called, and the work is done.
  Status afterAll(Device device, GpuStream stream, GpuCompleter::Done done);

  // Completes after all work that the thread has put on its stream of the device. The event there; nullptr when it has
  // completed already.
  GpuEvent finish(Device device, Completion completion);

 private:
  Result<GpuThread*> open(Device device);
  Result<GpuEvent> takeEvent(int device);
  void giveEvent(int device, GpuEvent event, GpuThread* thread);
  Status useOnce(Device device);
  template <class Done>
  Result<GpuEvent> markEnd(Device device, GpuStream stream, GpuThread* thread, Done done);
  void waitForRoom(GpuThread& thread);
  struct After;
  void complete(After& after, Status status);

  GpuDriver& driver_;
  const StorageOf storage_of_;
  const std::uint64_t serial_;  // unique in the process

  Mutex mutex_;
  ConditionVariable less_open_;
  int open_ PITWALL_GUARDED_BY(mutex_) = 0;  // operators whose work is not done
  std::chrono::steady_clock::time_point last_end_ PITWALL_GUARDED_BY(mutex_);
  std::map<std::pair<std::thread::id, int>, std::unique_ptr<GpuThread>> threads_ PITWALL_GUARDED_BY(mutex_);
  std::map<int, std::vector<GpuEvent>> events_ PITWALL_GUARDED_BY(mutex_);  // free ones, by device
  std::vector<GpuProblem*> problems_ PITWALL_GUARDED_BY(mutex_);            // free ones
  std::vector<Block> problem_memory_ PITWALL_GUARDED_BY(mutex_);
  std::unique_ptr<GpuCompleter> completer_;  // last: its thread uses the others
};

}  // namespace pitwall
