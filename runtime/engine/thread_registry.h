// Per-thread state of the engine, for the program's threads and its own: free operators, the current bulk, a
// parking place, and counts of operators.
//
// Counts are per thread so that pushing and completing share no cache line. When a thread ends its bulk is
// flushed and its state is reused by the next thread that needs one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "db/mutex.h"
#include "runtime/engine/bulk_segment.h"
#include "runtime/engine/parking.h"

namespace pitwall::engine {

struct Worker;  // worker_pool.h

// Written by one thread at a time, read by all.
class OwnedCounter {
 public:
  void increment() { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  std::uint64_t read() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

struct Waiter : Operator {
  Access access;
  ParkingSpot spot;
};

struct alignas(64) ThreadState {
  explicit ThreadState(OperatorDepot& depot) : cache(depot) {}

  OwnedCounter pushed;
  OwnedCounter completed;
  int running = 0;           // operators on this thread's stack
  Worker* worker = nullptr;  // of this thread, if it is one of the engine's
  OperatorCache cache;
  BulkSegment bulk;
  Waiter waiter;
  std::vector<Dependency> edges;  // scratch
};

class ThreadRegistry {
 public:
  // `on_exit` is called, on the ending thread, with the state of each thread that ends before the registry.
  ThreadRegistry(OperatorDepot& depot, std::function<void(ThreadState&)> on_exit);
  ~ThreadRegistry();
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // The calling thread's state.
  ThreadState& local() {
    if (last_used.serial == serial_) [[likely]]
      return *last_used.state;
    return findLocal();
  }

  // Whether at some moment during the call all pushed operators had completed.
  bool quiescent() const;

  // Precondition: no thread uses the registry during the call.
  void forEach(const std::function<void(ThreadState&)>& visit) PITWALL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  struct LastUsed {
    std::uint64_t serial = 0;
    ThreadState* state = nullptr;
  };
  struct Link;         // outlives the registry for the threads that end after it
  struct ThreadLinks;  // of one thread to all registries
  static constinit thread_local LastUsed last_used;

  ThreadState& findLocal();
  ThreadState& acquire();
  void release(ThreadState& state);

  const std::uint64_t serial_;  // unique in the process, never 0
  OperatorDepot& depot_;
  const std::function<void(ThreadState&)> on_exit_;
  const std::shared_ptr<Link> link_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<ThreadState>> states_ PITWALL_GUARDED_BY(mutex_);
  std::vector<ThreadState*> free_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall::engine
