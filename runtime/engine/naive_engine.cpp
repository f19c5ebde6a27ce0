#include "runtime/engine/naive_engine.h"

#include <cstdio>

#include "db/check.h"
#include "runtime/engine/dependency_tracker.h"
#include "runtime/engine/parking.h"

namespace pitwall::engine {

NaiveEngine::NaiveEngine(const EngineOptions& options, Profiler& profiler)
    : profiler_(profiler), runner_(profiler, options), cache_(depot_) {}

NaiveEngine::~NaiveEngine() {
  const Status left = runner_.errors().reportAll();
  if (!left.has_value()) {
    std::fprintf(stderr, "pitwall: error not reported by any wait before the engine ended: %s\n",
                 left.error().message.c_str());
  }
}

Variable NaiveEngine::newVariable() { return {&variables_.take()}; }

std::uint64_t NaiveEngine::version(Variable variable) const {
  return variable.state->version.load(std::memory_order_acquire);
}

void NaiveEngine::push(OperatorDesc desc) { pushDesc(desc, false); }

void NaiveEngine::deleteVariable(Variable variable, OperatorFunction then) {
  OperatorDesc desc{.run = std::move(then),
                    .writes = {&variable, 1},
                    .facts = runner_.deletionFacts(),
                    .operator_class = OperatorClass::deletion};
  pushDesc(desc, true);
}

void NaiveEngine::pushDesc(OperatorDesc& desc, bool ends_variable) {
  const BuildOptions options{profiler_.isRecording(), runner_.streams() != nullptr};
  if (isRunningHere()) {
    mutex_.assertHeld();  // by the running operator's push()
    Operator& op = buildOperator(cache_, desc, options);
    op.ends_variable = ends_variable;
    pending_.append(op);
    return;
  }
  const ScopedLock guard(mutex_);
  runner_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  Operator& op = buildOperator(cache_, desc, options);
  op.ends_variable = ends_variable;
  run(op);
  while (Operator* next = pending_.removeFirstOrNull()) run(*next);
  runner_thread_.store({}, std::memory_order_relaxed);
}

void NaiveEngine::run(Operator& op) {
  std::vector<Dependency>* const edges = profiler_.isRecording() ? &edges_ : nullptr;
  for (const Access& access : op.uses()) {
    PITWALL_CHECK(!access.variable->ending, "an operator uses a variable after its deletion");
  }
  trackOperator(op, edges);
  if (edges != nullptr) {
    for (const Dependency& edge : *edges) profiler_.dependency(edge);
    edges->clear();
  }
  if (op.kind == NodeKind::single) {
    runner_.run(op, 0, false);
  } else {
    runLater(op);
  }
  for (const Access& access : op.uses()) {
    if (!access.isWrite()) continue;
    std::atomic<std::uint64_t>& version = access.variable->version;
    version.store(version.load(std::memory_order_relaxed) + access.writes, std::memory_order_release);
  }
  if (op.ends_variable) {
    VariableState& variable = *op.accesses[0].variable;
    runner_.errors().forget(variable);
    variables_.give(variable);
  }
  cache_.give(op);
}

void NaiveEngine::runLater(Operator& op) {
  if (runner_.start(op, *this)) return runner_.finish(op);
  for (std::uint32_t left = 1; left != 0; left = op.waiting.load(std::memory_order_acquire))
    sleepWhile(op.waiting, left);
  runner_.finish(op, ended_);
}

void NaiveEngine::completed(Operator& op, Status status) {
  if (!status.has_value()) runner_.errors().add(op, status.error());
  completeLater(op);
}

void NaiveEngine::dropped(Operator& op) {
  if (runner_.failDropped(op)) completeLater(op);
}

// The pushing thread may free the operator and end the engine meanwhile: wakeAll() uses the address only.
void NaiveEngine::completeLater(Operator& op) {
  if (op.started != 0) ended_ = Profiler::now();
  std::atomic<std::uint32_t>& waiting = op.waiting;
  if (OperatorRunner::arrive(op)) wakeAll(waiting);
}

Status NaiveEngine::waitForVariable(Variable variable) {
  PITWALL_CHECK(!isRunningHere(), "an operator waits on the engine that runs it");
  PITWALL_CHECK(variable.state != nullptr, "a wait for a variable that newVariable() did not make");
  const ScopedLock guard(mutex_);
  return runner_.errors().report(*variable.state);
}

Status NaiveEngine::waitForAll() {
  PITWALL_CHECK(!isRunningHere(), "an operator waits on the engine that runs it");
  const ScopedLock guard(mutex_);
  return runner_.errors().reportAll();
}

Status NaiveEngine::start(const EngineOptions& options) {
  if (options.type == EngineType::naive) return {};
  return fail(ErrorCode::invalidInput,
              "start() of a NaiveEngine with the options of another type: open another engine");
}

int NaiveEngine::setBulkSize(int size) {
  const ScopedLock guard(mutex_);
  return std::exchange(bulk_size_, size);
}

}  // namespace pitwall::engine
