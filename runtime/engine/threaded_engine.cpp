#include "runtime/engine/threaded_engine.h"

#include <cstdio>

#include "db/check.h"
#include "db/try.h"
#include "runtime/engine/dependency_tracker.h"

namespace pitwall::engine {

Result<std::unique_ptr<Engine>> ThreadedEngine::open(const EngineOptions& options, Profiler& profiler) {
  std::unique_ptr<ThreadedEngine> engine(new ThreadedEngine(options, profiler));
  PITWALL_TRY(engine->start(options));
  return std::unique_ptr<Engine>(std::move(engine));
}

ThreadedEngine::ThreadedEngine(const EngineOptions& options, Profiler& profiler)
    : type_(options.type),
      profiler_(profiler),
      wait_variable_site_(profiler.site("wait for variable", EventKind::wait)),
      wait_all_site_(profiler.site("wait for all", EventKind::wait)),
      prints_waits_(options.prints_waits),
      runner_(profiler, options),
      threads_(depot_, [this](ThreadState& thread) { flush(thread); }) {}

ThreadedEngine::~ThreadedEngine() {
  stop();
  // Operators that other threads have collected and not yet flushed; a stopped engine runs them here.
  threads_.forEach([this](ThreadState& thread) { flush(thread); });
  finishAll();
  const Status left = runner_.errors().reportAll();
  if (!left.has_value()) {
    std::fprintf(stderr, "pitwall: error not reported by any wait before the engine ended: %s\n",
                 left.error().message.c_str());
  }
}

Variable ThreadedEngine::newVariable() { return {&variables_.take()}; }

std::uint64_t ThreadedEngine::version(Variable variable) const {
  return variable.state->version.load(std::memory_order_acquire);
}

void ThreadedEngine::push(OperatorDesc desc) {
  ThreadState& thread = threads_.local();
  BulkSegment& bulk = thread.bulk;
  if (bulk.isOn()) {
    if (!bulk.accepts(desc)) flush(thread);
    if (bulk.accepts(desc)) {
      bulk.append(buildOperator(thread.cache, desc, buildOptions()));
      if (bulk.full()) flush(thread);
      return;
    }
  }
  submit(buildOperator(thread.cache, desc, buildOptions()), thread);
}

void ThreadedEngine::deleteVariable(Variable variable, OperatorFunction then) {
  ThreadState& thread = threads_.local();
  flush(thread);
  OperatorDesc desc{.run = std::move(then),
                    .writes = {&variable, 1},
                    .facts = runner_.deletionFacts(),
                    .operator_class = OperatorClass::deletion};
  Operator& op = buildOperator(thread.cache, desc, buildOptions());
  op.ends_variable = true;
  submit(op, thread);
}

int ThreadedEngine::setBulkSize(int size) {
  ThreadState& thread = threads_.local();
  const int previous = std::exchange(thread.bulk.limit, size);
  if (size < previous) flush(thread);
  return previous;
}

void ThreadedEngine::flush(ThreadState& thread) {
  if (!thread.bulk.empty()) submit(thread.bulk.seal(thread.cache), thread);
}

// Submits an operator. It may have run and be recycled when this returns.
void ThreadedEngine::submit(Operator& op, ThreadState& thread) {
  thread.pushed.increment();
  const std::uint32_t count = op.access_count;
  op.waiting.store(count, std::memory_order_relaxed);
  std::vector<Dependency>* const edges = profiler_.isRecording() ? &thread.edges : nullptr;
  const std::uint32_t granted = appendAccesses(op, edges);
  if (edges != nullptr) {
    for (const Dependency& edge : *edges) profiler_.dependency(edge);
    edges->clear();
  }
  // If all accesses were granted here, no other thread uses the operator; if none was, it no longer belongs
  // to this thread.
  if (granted == count ||
      (granted != 0 && op.waiting.fetch_sub(granted, std::memory_order_acq_rel) == granted)) {
    dispatchFromPusher(op, thread);
  }
}

// Locks all variables, so that two threads' operators are never queued in different orders on two of them (a
// deadlock). Returns how many accesses were granted at once. Clang does not check it: the number of locks is known
// only at run time.
std::uint32_t ThreadedEngine::appendAccesses(Operator& op, std::vector<Dependency>* edges) {
  const std::span<Access> uses = op.uses();  // the operator may be gone once its last access is unlocked
  for (const Access& access : uses) access.variable->lock.lock();
  trackOperator(op, edges);
  std::uint32_t granted = 0;
  for (Access& access : uses) {
    VariableState& variable = *access.variable;
    PITWALL_CHECK(!variable.ending, "an operator uses a variable after its deletion");
    if (op.ends_variable) variable.ending = true;
    granted += (access.isWrite() ? variable.appendWrite(access) : variable.appendRead(access)) ? 1 : 0;
  }
  for (std::size_t i = uses.size(); i-- > 0;) uses[i].variable->lock.unlock();
  return granted;
}

void ThreadedEngine::dispatchFromPusher(Operator& op, ThreadState& thread) {
  const bool is_inline =
      op.operator_class == OperatorClass::inlineAsync ||
      (op.operator_class == OperatorClass::deletion && type_ == EngineType::threadedPerDevice);
  if (profiler_.isRecording()) op.ready = Profiler::now();
  if (open_works_.any() && hold(op)) return;
  if (is_inline) {
    runHere(op, thread);
  } else {
    dispatch(op, thread);
  }
}

void ThreadedEngine::dispatch(Operator& op, ThreadState& thread) {
  WorkerPool* const pool = poolFor(op);
  if (pool == nullptr) return runHere(op, thread);
  if (thread.worker != nullptr && thread.worker->pool == pool && pool->keep(*thread.worker, op)) return;
  if (op.operator_class == OperatorClass::deletion) {
    pool->putFirst(op);
  } else {
    pool->put(op);
  }
}

// Runs on a thread that is not the operator's worker.
void ThreadedEngine::runHere(Operator& op, ThreadState& thread) {
  if (run(op, thread)) complete(op, thread);
  if (thread.running == 0) idle();
}

// False when the operator completes later; it then no longer belongs to this thread.
inline bool ThreadedEngine::run(Operator& op, ThreadState& thread) {
  bool is_done = true;
  ++thread.running;
  if (op.device_kind == DeviceKind::gpu && leavesWorkOnStream(op)) {
    is_done = runOnStream(op, thread);
  } else if (op.kind == NodeKind::single) [[likely]] {
    runner_.run(op, op.ready, false);
  } else if (op.kind == NodeKind::segment) {
    runner_.runSegment(op, thread.cache);
  } else {
    is_done = runner_.start(op, *this);
    if (is_done) runner_.finish(op);
  }
  --thread.running;
  return is_done;
}

void ThreadedEngine::enter(Worker& worker) {
  threads_.local().worker = &worker;
  profiler_.nameThread(worker.name);
  if (worker.device) profiler_.setThreadDevice(ringDevice(*worker.device));
}

void ThreadedEngine::execute(Operator& op) {
  ThreadState& thread = threads_.local();
  const bool is_done = run(op, thread);
  if (!thread.bulk.empty()) [[unlikely]]
    flush(thread);  // operators pushed by the operator itself
  if (is_done) [[likely]]
    complete(op, thread);
}

void ThreadedEngine::completed(Operator& op, Status status) {
  completing_.fetch_add(1, std::memory_order_relaxed);
  if (!status.has_value()) runner_.errors().add(op, status.error());
  if (op.open != nullptr) endOnStream(op, !status.has_value());
  completeLater(op);
  completing_.fetch_sub(1, std::memory_order_release);
}

void ThreadedEngine::dropped(Operator& op) {
  completing_.fetch_add(1, std::memory_order_relaxed);
  if (runner_.failDropped(op)) {
    if (op.open != nullptr) endOnStream(op, true);
    completeLater(op);
  }
  completing_.fetch_sub(1, std::memory_order_release);
}

// On any thread; the engine's end waits for completing_, so that it does not overtake this.
void ThreadedEngine::completeLater(Operator& op) {
  if (!OperatorRunner::arrive(op)) return;
  ThreadState& thread = threads_.local();
  runner_.finish(op);
  complete(op, thread);
  if (thread.worker == nullptr && thread.running == 0) idle();
}

void ThreadedEngine::completeAccesses(const Operator& op, OperatorList& ready) {
  for (const Access& access : op.uses()) {
    VariableState& variable = *access.variable;
    const ScopedLock guard(variable.lock);
    if (access.isWrite()) {
      variable.completeWrite(access, ready);
    } else {
      variable.completeRead(ready);
    }
  }
}

// Completes a run operator's accesses, recycles it, and dispatches the operators that have become ready.
void ThreadedEngine::complete(Operator& op, ThreadState& thread) {
  OperatorList ready;
  if (op.open == nullptr) [[likely]]
    completeAccesses(op, ready);
  op.open.reset();
  if (op.ends_variable) {
    VariableState& variable = *op.accesses[0].variable;
    runner_.errors().forget(variable);
    if (open_works_.any()) open_works_.forget(variable);
    variables_.give(variable);
  }
  thread.cache.give(op);
  thread.completed.increment();
  letAllRun(ready, thread);
}

// Operators that have all their accesses.
void ThreadedEngine::letAllRun(OperatorList& ready, ThreadState& thread) {
  if (ready.empty()) return;
  const Ticks now = profiler_.isRecording() ? Profiler::now() : 0;
  while (Operator* next = ready.removeFirstOrNull()) {
    if (!open_works_.any() || !hold(*next)) letRun(*next, now, thread);
  }
}

// Runs an operator that has become ready, or ends a thread's wait.
void ThreadedEngine::letRun(Operator& op, Ticks now, ThreadState& thread) {
  if (op.kind == NodeKind::waiter) return static_cast<Waiter&>(op).spot.signal();
  op.ready = now;
  dispatch(op, thread);
}

}  // namespace pitwall::engine
