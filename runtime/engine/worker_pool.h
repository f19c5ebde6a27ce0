// Threads that run ready operators from one queue.
//
// Waking is throttled: at most one worker is searching (spinning for a few microseconds, or on its way out of
// sleep); while one is, no other is woken, and when it finds more operators than it takes, it wakes the next.
// A burst of tiny operators thus keeps one worker busy instead of waking all, and an idle pool sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/parking.h"
#include "runtime/engine/ready_queue.h"
#include "runtime/engine/spin.h"

namespace pitwall::engine {

class WorkerPool;
struct Worker;

// Callbacks of a pool's threads. Called on them.
class OperatorExecutor {
 public:
  virtual ~OperatorExecutor() = default;
  virtual void enter(Worker& worker) = 0;  // first call on each thread
  virtual void execute(Operator& op) = 0;
  virtual void idle() = 0;  // no operators left after executing some
};

struct alignas(64) Worker {
  WorkerPool* pool = nullptr;
  std::string name;
  std::optional<Device> device;  // of its operators, if it is always the same
  OperatorList own;              // taken from the queue, or kept; only its thread touches it
  ParkingSpot spot;
  bool searching = false;         // guarded by the pool's lock
  Worker* next_asleep = nullptr;  // guarded by the pool's lock
  std::thread thread;
};

class WorkerPool {
 public:
  struct Options {
    std::string name;
    int threads = 1;
    QueueOrder order = QueueOrder::arrival;
    std::function<void()> on_start = {};  // first on each thread
    std::optional<Device> device = {};    // of all its operators, if it is the same
  };
  // Errors: io when threads cannot be created.
  static Result<std::unique_ptr<WorkerPool>> start(const Options& options, OperatorExecutor& executor);
  // Ends the threads. Precondition: nothing is queued and nothing will be.
  ~WorkerPool();

  void put(Operator& op);
  void putFirst(Operator& op);

  // For an operator that `worker`, of this pool, has made ready: true when the worker can run it next without
  // the queue, because it overtakes no other operator.
  bool keep(Worker& worker, Operator& op);

 private:
  WorkerPool(const Options& options, OperatorExecutor& executor)
      : executor_(executor), on_start_(options.on_start), order_(options.order), queue_(options.order) {}
  void run(Worker& worker);
  Operator* next(Worker& worker);
  Operator* takeOrSleep(Worker& worker);
  Operator* take(Worker& worker) PITWALL_REQUIRES(lock_);
  void spinForWork();
  // The sleeping worker to signal after unlocking, if any. Precondition: there is work.
  Worker* workerToWake() PITWALL_REQUIRES(lock_);
  void updateHints() PITWALL_REQUIRES(lock_);

  OperatorExecutor& executor_;
  const std::function<void()> on_start_;
  const QueueOrder order_;
  std::vector<std::unique_ptr<Worker>> workers_;  // constant after start()

  // Hints for readers without the lock, written under it.
  alignas(64) std::atomic<bool> has_urgent_{false};
  alignas(64) std::atomic<bool> has_work_{false};  // or is stopping

  SpinLock lock_;
  bool searching_ PITWALL_GUARDED_BY(lock_) =
      false;  // a worker spins, or was woken and has not checked the queue yet
  bool stopping_ PITWALL_GUARDED_BY(lock_) = false;
  Worker* asleep_ PITWALL_GUARDED_BY(lock_) = nullptr;  // most recent first
  OperatorList urgent_ PITWALL_GUARDED_BY(lock_);
  ReadyQueue queue_ PITWALL_GUARDED_BY(lock_);
};

}  // namespace pitwall::engine
