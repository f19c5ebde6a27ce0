#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/profiler/site_registry.h"
#include "runtime/profiler/state.h"

namespace pitwall::profiler {

namespace {

struct Guard {
  Mutex mutex;
  std::vector<ForkEntry> entries PITWALL_GUARDED_BY(mutex);
};

// Never destroyed: a fork may happen in a destructor of a static.
Guard& guard() {
  static Guard* const instance = new Guard;
  return *instance;
}

constinit std::atomic<Mutex*> g_callers_lock{nullptr};
Mutex* g_held_callers_lock = nullptr;  // during a fork; guarded by the guard's mutex

// Clang does not check the next three: they take and release the locks of all profilers across the fork.
void prepare() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  // In this order: the holder of each may take all later ones.
  Mutex* const callers_lock = g_callers_lock.load(std::memory_order_acquire);
  if (callers_lock != nullptr) callers_lock->lock();
  SiteRegistry::lockForFork();
  guard().mutex.lock();
  g_held_callers_lock = callers_lock;
  for (ForkEntry& entry : guard().entries) {
    entry.logs->mutex().lock();
    entry.identities->mutex().lock();
    if (*entry.file != nullptr) (*entry.file)->mutex().lock();
  }
}

void release() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  for (ForkEntry& entry : guard().entries) {
    if (*entry.file != nullptr) (*entry.file)->mutex().unlock();
    entry.identities->mutex().unlock();
    entry.logs->mutex().unlock();
  }
  Mutex* const callers_lock = std::exchange(g_held_callers_lock, nullptr);
  guard().mutex.unlock();
  SiteRegistry::unlockAfterFork();
  if (callers_lock != nullptr) callers_lock->unlock();
}

void releaseInChild() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  SiteRegistry::leaveInChild();
  for (ForkEntry& entry : guard().entries) {
    entry.recording->store(false);
    entry.in_child->store(true);
    // The rings belong to the parent: unmapping them also releases the child's share of the file lock.
    entry.logs->leaveRingsInChild();
    entry.identities->leaveFileInChild();
    if (*entry.file != nullptr) (*entry.file)->closeInChild();
  }
  release();
}

}  // namespace

void registerForkGuard() {
  static const int registered = pthread_atfork(prepare, release, releaseInChild);
  PITWALL_CHECK(registered == 0, "pthread_atfork returned %d", registered);
}

void joinForkGuard(const ForkEntry& entry) {
  registerForkGuard();
  const ScopedLock lock(guard().mutex);
  guard().entries.push_back(entry);
}

void guardCallersLock(Mutex& mutex) {
  registerForkGuard();
  g_callers_lock.store(&mutex, std::memory_order_release);
}

void leaveForkGuard(const std::atomic<bool>* recording) {
  const ScopedLock lock(guard().mutex);
  std::erase_if(guard().entries,
                [recording](const ForkEntry& entry) { return entry.recording == recording; });
}

}  // namespace pitwall::profiler
