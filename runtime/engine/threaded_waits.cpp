// Waiting for variables and for all operators.
#include <cstdio>

#include "db/check.h"
#include "runtime/engine/threaded_engine.h"

namespace pitwall::engine {

Status ThreadedEngine::waitForVariable(Variable variable) {
  ThreadState& thread = threads_.local();
  PITWALL_CHECK(thread.running == 0, "an operator waits on the engine that runs it");
  PITWALL_CHECK(variable.state != nullptr, "a wait for a variable that newVariable() did not make");
  flush(thread);
  blockUntilWritten(*variable.state, thread);
  return runner_.errors().report(*variable.state);
}

void ThreadedEngine::blockUntilWritten(VariableState& variable, ThreadState& thread) {
  CorrelationId awaited = 0;
  Waiter& waiter = thread.waiter;
  waiter.kind = NodeKind::waiter;
  waiter.waiting.store(1, std::memory_order_relaxed);
  waiter.access = {&variable, nullptr, &waiter, 0, true};
  bool waits = false;
  {
    const ScopedLock guard(variable.lock);
    waits = variable.appendWaiter(waiter.access);
    awaited = variable.last_writer;
  }
  if (!waits && !(open_works_.any() && hold(waiter))) return;
  if (prints_waits_)
    std::fprintf(stderr, "engine: wait for variable %p\n", static_cast<const void*>(&variable));
  const Ticks started = profiler_.enter();
  waiter.spot.wait(true);
  if (prints_waits_)
    std::fprintf(stderr, "engine: variable %p is ready, after %llu writes\n",
                 static_cast<const void*>(&variable),
                 static_cast<unsigned long long>(variable.version.load(std::memory_order_acquire)));
  if (started != 0) profiler_.leave(wait_variable_site_, started, static_cast<std::int64_t>(awaited));
}

Status ThreadedEngine::waitForAll() {
  ThreadState& thread = threads_.local();
  PITWALL_CHECK(thread.running == 0, "an operator waits on the engine that runs it");
  flush(thread);
  if (!threads_.quiescent()) {
    const Ticks started = profiler_.enter();
    blockUntilAllDone();
    if (started != 0) profiler_.leave(wait_all_site_, started);
  }
  return runner_.errors().reportAll();
}

// Whichever of this and the last worker's idle() accesses all_waiters_ first, one sees the other's change:
// either this thread sees that all operators have completed, or the worker sees that this thread waits.
void ThreadedEngine::blockUntilAllDone() {
  all_waiters_.fetch_add(1, std::memory_order_acq_rel);
  for (;;) {
    const std::uint32_t epoch = all_epoch_.load(std::memory_order_acquire);
    if (threads_.quiescent()) break;
    SpinBudget budget;
    while (all_epoch_.load(std::memory_order_acquire) == epoch && budget.spin()) {
    }
    sleepWhile(all_epoch_, epoch);
  }
  all_waiters_.fetch_sub(1, std::memory_order_relaxed);
}

// Also lets threads leave that have completed an operator: the engine may end afterwards.
void ThreadedEngine::finishAll() {
  if (!threads_.quiescent()) blockUntilAllDone();
  while (completing_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void ThreadedEngine::idle() {
  if (all_waiters_.fetch_add(0, std::memory_order_acq_rel) == 0 || !threads_.quiescent()) return;
  all_epoch_.fetch_add(1, std::memory_order_release);
  wakeAll(all_epoch_);
}

}  // namespace pitwall::engine
