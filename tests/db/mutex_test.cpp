// What a program sees of the locks; which uses compile is the matter of .ci/check_locks.py.
#include "db/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace pitwall::mutex_test {
namespace {

bool isFree(Mutex& mutex) PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  bool taken = false;
  std::thread([&]() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
    taken = mutex.tryLock();
    if (taken) mutex.unlock();
  }).join();
  return taken;
}

TEST(Mutex, IsHeldWhileItsScopedLockLives) {
  Mutex mutex;
  {
    const ScopedLock lock(mutex);
    EXPECT_FALSE(isFree(mutex));
    {
      const ScopedUnlock unlocked(mutex);
      EXPECT_TRUE(isFree(mutex));
    }
    EXPECT_FALSE(isFree(mutex));
  }
  EXPECT_TRUE(isFree(mutex));
}

TEST(Mutex, AnAdoptedLockIsReleasedAtTheEnd) {
  Mutex mutex;
  if (!mutex.tryLock()) FAIL() << "it is free";
  {
    const ScopedLock lock(mutex, std::adopt_lock);
    EXPECT_FALSE(isFree(mutex));
  }
  EXPECT_TRUE(isFree(mutex));
}

TEST(ConditionVariable, AWaitReleasesTheMutexAndHoldsItAfterwards) {
  struct {
    Mutex mutex;
    ConditionVariable changed;
    bool ready PITWALL_GUARDED_BY(mutex) = false;
  } shared;
  std::thread other([&shared] {
    const ScopedLock lock(shared.mutex);  // only when the wait has released it, or has not begun
    shared.ready = true;
    shared.changed.notifyAll();
  });
  {
    const ScopedLock lock(shared.mutex);
    while (!shared.ready) shared.changed.wait(shared.mutex);
    EXPECT_FALSE(isFree(shared.mutex));
  }
  other.join();
}

TEST(ConditionVariable, AWaitEndsAtItsTimeWithTheMutexHeld) {
  Mutex mutex;
  ConditionVariable never;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  const ScopedLock lock(mutex);
  while (never.waitUntil(mutex, end)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), end);
  EXPECT_FALSE(isFree(mutex));
}

}  // namespace
}  // namespace pitwall::mutex_test
