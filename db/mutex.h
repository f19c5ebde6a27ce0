// Locks whose use Clang checks (db/thread_annotations.h): std::mutex and std::condition_variable behind
// inline functions, since those of libstdc++ have no annotations.
//
//   ConditionVariable changed_;
//   Mutex mutex_;
//   int count_ PITWALL_GUARDED_BY(mutex_) = 0;
//   ...
//   const ScopedLock lock(mutex_);
//   while (count_ == 0) changed_.wait(mutex_);
//
// A wait is a loop, not a predicate: Clang checks a lambda as a separate function, without the lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "db/thread_annotations.h"

namespace pitwall {

class PITWALL_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() PITWALL_ACQUIRE() { mutex_.lock(); }
  void unlock() PITWALL_RELEASE() { mutex_.unlock(); }
  bool tryLock() PITWALL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // For code that runs only while its thread holds the mutex, where Clang cannot see that. Does nothing.
  void assertHeld() const PITWALL_ASSERT_HELD(this) {}

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a lock while it lives; with adopt_lock, one that the caller has taken.
template <class Lock>
class PITWALL_SCOPED_CAPABILITY ScopedLock {
 public:
  explicit ScopedLock(Lock& lock) PITWALL_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ScopedLock(Lock& lock, std::adopt_lock_t) PITWALL_REQUIRES(lock) : lock_(lock) {}
  ~ScopedLock() PITWALL_RELEASE() { lock_.unlock(); }
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;

 private:
  Lock& lock_;
};

// Releases a lock of the caller while it lives.
template <class Lock>
class PITWALL_SCOPED_CAPABILITY ScopedUnlock {
 public:
  explicit ScopedUnlock(Lock& lock) PITWALL_RELEASE(lock) : lock_(lock) { lock_.unlock(); }
  ~ScopedUnlock() PITWALL_RELEASE() { lock_.lock(); }
  ScopedUnlock(const ScopedUnlock&) = delete;
  ScopedUnlock& operator=(const ScopedUnlock&) = delete;

 private:
  Lock& lock_;
};

// The waits release the mutex while they wait, and may return without a notification.
class ConditionVariable {
 public:
  void wait(Mutex& mutex) PITWALL_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    (void)held.release();
  }
  // False when the time has come.
  template <class Clock, class Duration>
  bool waitUntil(Mutex& mutex, std::chrono::time_point<Clock, Duration> end) PITWALL_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    const bool notified = condition_.wait_until(held, end) == std::cv_status::no_timeout;
    (void)held.release();
    return notified;
  }
  void notifyOne() { condition_.notify_one(); }
  void notifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace pitwall
