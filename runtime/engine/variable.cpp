#include "runtime/engine/variable.h"

#include "runtime/engine/dependency_tracker.h"
#include "runtime/engine/operator_errors.h"

namespace pitwall::engine {
namespace {

// One access of the operator was granted.
void grant(Access& access, OperatorList& ready) {
  std::atomic<std::uint32_t>& waiting = access.op->waiting;
  // If this is the last one, no other thread uses the counter any more.
  if (waiting.load(std::memory_order_acquire) == 1 || waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    ready.append(*access.op);
  }
}

}  // namespace

bool VariableState::appendRead(Access& access) {
  if (!writePending()) {
    ++reads_running;  // STATE CHANGE
    return true;
  }
  enqueue(access);
  return false;
}

bool VariableState::appendWrite(Access& access) {
  if (!writePending() && reads_running == 0) {
    write_running = true;  // STATE CHANGE
    return true;
  }
  enqueue(access);
  return false;
}

bool VariableState::appendWaiter(Access& access) {
  if (!writePending()) return false;
  enqueue(access);
  return true;
}

void VariableState::completeRead(OperatorList& ready) {
  --reads_running;  // STATE CHANGE
  if (reads_running == 0 && first_waiting != nullptr) startNextWrite(ready);
}

void VariableState::completeWrite(const Access& access, OperatorList& ready) {
  write_running = false;  // STATE CHANGE
  version.store(version.load(std::memory_order_relaxed) + access.writes, std::memory_order_release);
  while (first_waiting != nullptr && !first_waiting->isWrite()) {
    Access& read = dequeue();
    if (read.op->kind != NodeKind::waiter) ++reads_running;
    grant(read, ready);
  }
  if (reads_running == 0 && first_waiting != nullptr) startNextWrite(ready);
}

void VariableState::enqueue(Access& access) {
  access.next = nullptr;
  (first_waiting == nullptr ? first_waiting : last_waiting->next) = &access;
  last_waiting = &access;
}

Access& VariableState::dequeue() {
  Access& access = *first_waiting;
  first_waiting = access.next;
  return access;
}

void VariableState::startNextWrite(OperatorList& ready) {
  write_running = true;  // STATE CHANGE
  grant(dequeue(), ready);
  // A waiter behind a write that is granted here stays queued until that write completes.
}

VariablePool::~VariablePool() {
  for (const auto& slab : slabs_) {
    for (std::size_t i = 0; i < kSlab; ++i) {
      delete slab[i].readers;
      delete slab[i].errors;
    }
  }
}

VariableState& VariablePool::take() {
  const ScopedLock guard(lock_);
  if (free_.empty()) {
    slabs_.push_back(std::make_unique<VariableState[]>(kSlab));
    free_.reserve(slabs_.size() * kSlab);
    for (std::size_t i = kSlab; i-- > 0;) free_.push_back(&slabs_.back()[i]);
  }
  VariableState& variable = *free_.back();
  free_.pop_back();
  variable.version.store(0, std::memory_order_relaxed);
  variable.ending = false;
  variable.last_writer = 0;
  return variable;
}

void VariablePool::give(VariableState& variable) {
  const ScopedLock guard(lock_);
  free_.push_back(&variable);
}

}  // namespace pitwall::engine
