// A variable's state: the operators that use it and those that wait for it. Many readers at once, one writer
// at a time, in the order of arrival.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/engine/operator_node.h"
#include "runtime/engine/spin.h"

namespace pitwall::engine {

struct ErrorList;  // operator_errors.h
struct ReaderLog;  // dependency_tracker.h

// One cache line, so that taking the lock loads the other members. Invariant: an access waits only while a write
// runs or waits before it; the first waiting access is a write unless a write runs.
//
// `ending`, `last_writer` and `readers` are guarded by `lock` in the engines with threads, and by the engine's mutex
// in the one without.
struct alignas(64) VariableState {
  SpinLock lock;
  bool write_running PITWALL_GUARDED_BY(lock) = false;
  bool ending = false;  // deleteVariable() was called
  std::uint32_t reads_running PITWALL_GUARDED_BY(lock) = 0;
  Access* first_waiting PITWALL_GUARDED_BY(lock) = nullptr;
  Access* last_waiting PITWALL_GUARDED_BY(lock) = nullptr;
  std::atomic<std::uint64_t> version{0};  // written under lock, read anywhere
  CorrelationId last_writer = 0;
  ReaderLog* readers = nullptr;  // since the last write; only while recording
  ErrorList* errors = nullptr;   // guarded by the OperatorErrors

  bool writePending() const PITWALL_REQUIRES(lock) { return write_running || first_waiting != nullptr; }

  // Append an access. True when it is granted at once.
  bool appendRead(Access& access) PITWALL_REQUIRES(lock);
  bool appendWrite(Access& access) PITWALL_REQUIRES(lock);
  // Queues a waiter behind all writes. False when there are none.
  bool appendWaiter(Access& access) PITWALL_REQUIRES(lock);

  // Complete a granted access; operators that now have all their accesses go to `ready`.
  void completeRead(OperatorList& ready) PITWALL_REQUIRES(lock);
  void completeWrite(const Access& access, OperatorList& ready) PITWALL_REQUIRES(lock);

 private:
  void enqueue(Access& access) PITWALL_REQUIRES(lock);
  Access& dequeue() PITWALL_REQUIRES(lock);
  void startNextWrite(OperatorList& ready) PITWALL_REQUIRES(lock);
};
static_assert(sizeof(VariableState) == 64);

// Creates and recycles variables; they keep their address until the pool ends. Thread-safe.
class VariablePool {
 public:
  VariablePool() = default;
  ~VariablePool();
  VariablePool(const VariablePool&) = delete;
  VariablePool& operator=(const VariablePool&) = delete;

  VariableState& take();
  void give(VariableState& variable);

 private:
  static constexpr std::size_t kSlab = 64;
  SpinLock lock_;
  std::vector<VariableState*> free_ PITWALL_GUARDED_BY(lock_);
  std::vector<std::unique_ptr<VariableState[]>> slabs_ PITWALL_GUARDED_BY(lock_);
};

}  // namespace pitwall::engine
