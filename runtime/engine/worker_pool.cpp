#include "runtime/engine/worker_pool.h"

#include <fmt/format.h>

#include <system_error>

namespace pitwall::engine {

Result<std::unique_ptr<WorkerPool>> WorkerPool::start(const Options& options, OperatorExecutor& executor) {
  std::unique_ptr<WorkerPool> pool(new WorkerPool(options, executor));
  for (int i = 0; i < options.threads; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->pool = pool.get();
    worker->name = fmt::format("{} {}", options.name, i);
    worker->device = options.device;
    pool->workers_.push_back(std::move(worker));
  }
  for (const auto& worker : pool->workers_) {
    try {
      worker->thread = std::thread([&pool = *pool, &worker = *worker] { pool.run(worker); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::io,
                  fmt::format("cannot start thread '{}': {}; set a smaller number of workers, or "
                              "raise the limit of processes (ulimit -u)",
                              worker->name, error.what()));
    }
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  Worker* asleep = nullptr;
  {
    const ScopedLock guard(lock_);
    stopping_ = true;
    has_work_.store(true, std::memory_order_relaxed);
    asleep = std::exchange(asleep_, nullptr);
  }
  while (asleep != nullptr) {
    Worker& worker = *asleep;
    asleep = worker.next_asleep;
    worker.spot.signal();
  }
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void WorkerPool::put(Operator& op) {
  Worker* sleeper = nullptr;
  {
    const ScopedLock guard(lock_);
    queue_.add(op);
    updateHints();
    sleeper = workerToWake();
  }
  if (sleeper != nullptr) sleeper->spot.signal();
}

void WorkerPool::putFirst(Operator& op) {
  Worker* sleeper = nullptr;
  {
    const ScopedLock guard(lock_);
    urgent_.append(op);
    updateHints();
    sleeper = workerToWake();
  }
  if (sleeper != nullptr) sleeper->spot.signal();
}

bool WorkerPool::keep(Worker& worker, Operator& op) {
  if (op.operator_class == OperatorClass::deletion) {
    worker.own.prepend(op);
    return true;
  }
  if (order_ != QueueOrder::arrival || has_work_.load(std::memory_order_relaxed)) return false;
  // A single worker may hold any number; others hold one, since the rest could run on other workers.
  if (workers_.size() > 1 && !worker.own.empty()) return false;
  worker.own.append(op);
  return true;
}

void WorkerPool::run(Worker& worker) {
  executor_.enter(worker);
  if (on_start_) on_start_();
  while (Operator* op = next(worker)) executor_.execute(*op);
}

Operator* WorkerPool::next(Worker& worker) {
  if (!worker.own.empty() && !has_urgent_.load(std::memory_order_relaxed)) return &worker.own.removeFirst();
  Worker* sleeper = nullptr;
  Operator* op = nullptr;
  {
    const ScopedLock guard(lock_);
    op = take(worker);
    if (!queue_.empty()) sleeper = workerToWake();
  }
  if (sleeper != nullptr) sleeper->spot.signal();
  if (op != nullptr) return op;
  if (!worker.own.empty()) return &worker.own.removeFirst();
  executor_.idle();
  return takeOrSleep(worker);
}

// Waits for an operator; nullptr when the pool stops.
Operator* WorkerPool::takeOrSleep(Worker& worker) {
  bool may_spin = true;
  for (;;) {
    Worker* sleeper = nullptr;
    Operator* op = nullptr;
    bool spin = false;
    {
      const ScopedLock guard(lock_);
      if (worker.searching) worker.searching = searching_ = false;
      op = take(worker);
      if (!queue_.empty()) sleeper = workerToWake();
      if (op == nullptr) {
        if (stopping_) return nullptr;
        if (may_spin && !searching_) {
          spin = worker.searching = searching_ = true;
        } else {
          worker.next_asleep = asleep_;
          asleep_ = &worker;
        }
      }
    }
    if (sleeper != nullptr) sleeper->spot.signal();
    if (op != nullptr) return op;
    if (spin) {
      spinForWork();
    } else {
      worker.spot.wait(false);
    }
    may_spin = !spin;
  }
}

Operator* WorkerPool::take(Worker& worker) {
  Operator* op = urgent_.removeFirstOrNull();
  if (op == nullptr && !queue_.empty() && worker.own.empty()) {
    if (workers_.size() == 1 && order_ == QueueOrder::arrival) {
      worker.own = queue_.removeAll();
      op = &worker.own.removeFirst();
    } else {
      op = &queue_.remove();
    }
  }
  updateHints();
  return op;
}

void WorkerPool::spinForWork() {
  SpinBudget budget;
  while (!has_work_.load(std::memory_order_relaxed) && budget.spin()) {
  }
}

Worker* WorkerPool::workerToWake() {
  if (searching_ || asleep_ == nullptr) return nullptr;
  Worker* worker = asleep_;
  asleep_ = worker->next_asleep;
  worker->searching = searching_ = true;
  return worker;
}

void WorkerPool::updateHints() {
  has_urgent_.store(!urgent_.empty(), std::memory_order_relaxed);
  has_work_.store(stopping_ || !urgent_.empty() || !queue_.empty(), std::memory_order_relaxed);
}

}  // namespace pitwall::engine
