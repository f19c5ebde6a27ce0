// Operators that leave their work on streams of GPUs.
#include "runtime/engine/threaded_engine.h"

namespace pitwall::engine {

bool ThreadedEngine::leavesWorkOnStream(const Operator& op) const {
  if (op.device_kind != DeviceKind::gpu || runner_.streams() == nullptr) return false;
  return op.kind == NodeKind::segment || (op.kind == NodeKind::later && !op.function.completesLater());
}

// A copy from a GPU into pageable memory blocks the thread that puts it on a stream: it would keep its worker from other copies.
bool ThreadedEngine::startsBehindWork(const Operator& op) const {
  return leavesWorkOnStream(op) && op.operator_class != OperatorClass::copyFromGpu;
}

// Its stream waits for the work that it follows. Who waits for this operator gets its turn when its work is on the stream.
bool ThreadedEngine::runOnStream(Operator& op, ThreadState& thread) {
  const Status entered = enterStream(op);
  if (!entered.has_value()) runner_.errors().add(op, entered.error());  // so that it is skipped
  op.waiting.store(2, std::memory_order_relaxed);
  runner_.runOnStream(op, thread.cache);
  op.open->setEvent(runner_.streams()->finish(op.device(), Completion(op, *this)));
  // Without a stream it has left no work, and has followed none.
  if (entered.has_value() && !op.open->isDone()) open_works_.add(op.uses(), op.open);
  OperatorList ready;
  completeAccesses(op, ready);
  letAllRun(ready, thread);
  return OperatorRunner::arrive(op);
}

Status ThreadedEngine::enterStream(Operator& op) {
  std::vector<OpenWorkPtr> follows = open_works_.before(op.uses());
  std::vector<StreamPlace> places;
  for (const OpenWorkPtr& work : follows) places.push_back(work->place());
  const Result<void*> stream = runner_.streams()->enter(op.device(), places);
  op.open = std::make_shared<OpenWork>(stream.has_value() ? *stream : nullptr, std::move(follows));
  return stream.has_value() ? Status() : Status(fail(stream.error()));
}

// Has an operator with all its accesses wait until the work that it follows is done. False: it can run now.
bool ThreadedEngine::hold(Operator& op) {
  if (startsBehindWork(op)) return false;
  const std::span<const Access> uses =
      op.kind == NodeKind::waiter ? std::span<const Access>(&static_cast<Waiter&>(op).access, 1) : op.uses();
  const std::vector<OpenWorkPtr> before = open_works_.before(uses);
  if (before.empty()) return false;
  op.waiting.store(static_cast<std::uint32_t>(before.size()) + 1, std::memory_order_relaxed);
  for (const OpenWorkPtr& work : before)
    if (!work->hold(op)) op.waiting.fetch_sub(1, std::memory_order_relaxed);
  return op.waiting.fetch_sub(1, std::memory_order_acq_rel) != 1;
}

// Its work is done. An error of what it has followed came later than its start.
void ThreadedEngine::endOnStream(Operator& op, bool failed) {
  if (op.open->end(failed)) (void)runner_.errors().inherit(op);
  runner_.recordOnStream(op, op.open->stream(), Profiler::now());
  op.started = 0;
  ThreadState& thread = threads_.local();
  const Ticks now = profiler_.isRecording() ? Profiler::now() : 0;
  for (Operator* held : op.open->release()) {
    if (held->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) letRun(*held, now, thread);
  }
}

}  // namespace pitwall::engine
