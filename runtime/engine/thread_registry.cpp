#include "runtime/engine/thread_registry.h"

namespace pitwall::engine {
namespace {

std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

constinit thread_local ThreadRegistry::LastUsed ThreadRegistry::last_used;

struct ThreadRegistry::Link {
  Mutex mutex;
  ThreadRegistry* registry PITWALL_GUARDED_BY(mutex);  // nullptr when ended
};

struct ThreadRegistry::ThreadLinks {
  struct One {
    std::uint64_t serial;
    ThreadState* state;
    std::shared_ptr<Link> link;
  };
  std::vector<One> all;

  ~ThreadLinks() {
    for (One& one : all) {
      const ScopedLock guard(one.link->mutex);
      if (one.link->registry == nullptr) continue;
      last_used = {one.serial, one.state};
      one.link->registry->release(*one.state);
    }
    last_used = {};
  }
};

ThreadRegistry::ThreadRegistry(OperatorDepot& depot, std::function<void(ThreadState&)> on_exit)
    : serial_(nextSerial()), depot_(depot), on_exit_(std::move(on_exit)), link_(std::make_shared<Link>()) {
  link_->registry = this;
}

ThreadRegistry::~ThreadRegistry() {
  const ScopedLock guard(link_->mutex);
  link_->registry = nullptr;
}

ThreadState& ThreadRegistry::findLocal() {
  thread_local ThreadLinks links;
  for (const ThreadLinks::One& one : links.all) {
    if (one.serial != serial_) continue;
    last_used = {serial_, one.state};
    return *one.state;
  }
  std::erase_if(links.all, [](const ThreadLinks::One& one) {
    const ScopedLock guard(one.link->mutex);
    return one.link->registry == nullptr;
  });
  ThreadState& state = acquire();
  links.all.push_back({serial_, &state, link_});
  last_used = {serial_, &state};
  return state;
}

ThreadState& ThreadRegistry::acquire() {
  const ScopedLock guard(mutex_);
  if (!free_.empty()) {
    ThreadState& state = *free_.back();
    free_.pop_back();
    return state;
  }
  states_.push_back(std::make_unique<ThreadState>(depot_));
  return *states_.back();
}

void ThreadRegistry::release(ThreadState& state) {
  on_exit_(state);
  state.bulk.limit = 0;
  state.worker = nullptr;
  const ScopedLock guard(mutex_);
  free_.push_back(&state);
}

bool ThreadRegistry::quiescent() const {
  const ScopedLock guard(mutex_);
  // Reads completed counts first: since completed operators were pushed earlier, equal sums mean that none
  // was open in between.
  std::uint64_t completed = 0;
  std::uint64_t pushed = 0;
  for (const auto& state : states_) completed += state->completed.read();
  for (const auto& state : states_) pushed += state->pushed.read();
  return completed == pushed;
}

void ThreadRegistry::forEach(const std::function<void(ThreadState&)>& visit) {
  for (const auto& state : states_) visit(*state);
}

}  // namespace pitwall::engine
