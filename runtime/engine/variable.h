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

// One cache line, so that taking the lock loads the other members. All members are guarded by `lock` unless
// noted. Invariant: an access waits only while a write runs or waits before it; the first waiting access is a
// write unless a write runs.
struct alignas(64) VariableState {
  SpinLock lock;
  bool write_running = false;
  bool ending = false;  // deleteVariable() was called
  std::uint32_t reads_running = 0;
  Access* first_waiting = nullptr;  // also links free variables
  Access* last_waiting = nullptr;
  std::atomic<std::uint64_t> version{0};  // written under lock, read anywhere
  CorrelationId last_writer = 0;
  ReaderLog* readers = nullptr;  // since the last write; only while recording
  ErrorList* errors = nullptr;   // guarded by the OperatorErrors

  bool writePending() const { return write_running || first_waiting != nullptr; }

  // Append an access. True when it is granted at once.
  bool appendRead(Access& access);
  bool appendWrite(Access& access);
  // Queues a waiter behind all writes. False when there are none.
  bool appendWaiter(Access& access);

  // Complete a granted access; operators that now have all their accesses go to `ready`.
  void completeRead(OperatorList& ready);
  void completeWrite(const Access& access, OperatorList& ready);

 private:
  void enqueue(Access& access);
  Access& dequeue();
  void startNextWrite(OperatorList& ready);
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
  std::vector<VariableState*> free_;                     // guarded by lock_
  std::vector<std::unique_ptr<VariableState[]>> slabs_;  // guarded by lock_
};

}  // namespace pitwall::engine
