// Which ring belongs to which thread.
//
// A thread's first record makes it a ring (or takes one of a dead thread); a thread-local pointer finds it
// again in a few instructions. When the thread ends its log is marked; the drain empties the ring and puts it
// back for the next thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "db/ids.h"
#include "runtime/profiler/ring.h"

namespace pitwall::profiler {

struct ThreadLog {
  Ring* ring = nullptr;
  std::int64_t tid = 0;
  std::string name;                // guarded by ThreadLogs::mutex_
  std::atomic<bool> ended{false};  // set after the thread's last record

  // The drain's own.
  TrackId track;             // in the present recording; none = not told to the sink yet
  std::uint64_t events = 0;  // given to that track
};

// The name given to the calling thread, or a default.
std::string currentThreadName();
void rememberThreadName(std::string_view name);

class ThreadLogs {
 public:
  // `owner` is the profiler's id; `waker` is told of rings that are half full (nullptr: nobody), and outlives
  // this.
  ThreadLogs(std::uint64_t owner, std::uint64_t records, ring::RingPolicy policy, Waker* waker)
      : owner_(owner), records_(records), policy_(policy), waker_(waker) {}
  ~ThreadLogs();
  ThreadLogs(const ThreadLogs&) = delete;
  ThreadLogs& operator=(const ThreadLogs&) = delete;

  // The calling thread's ring, made when it has none. nullptr when there is no memory; the loss is counted.
  Ring* forThisThread();

  void nameThisThread(std::string_view name);

  // Where rings lie from now on, those that exist too: a file, or nullptr for memory. Only while nothing is
  // recorded.
  void keepIn(RingFile* file);
  // Rings that the file had no room for.
  std::size_t ringsInMemory() const;

  // What threads do when their ring is full: from now on the chosen policy, or no longer wait.
  void setWaiting(bool allowed);

  // For the drain: all logs, those of ended threads included.
  std::vector<std::shared_ptr<ThreadLog>> all() const;
  std::string nameOf(const ThreadLog& log) const;
  // For the drain: forgets a log whose thread has ended and whose ring is empty.
  void recycle(const std::shared_ptr<ThreadLog>& log);

  bool anyHalfFull() const;

  // Records lost for want of memory since the last call.
  std::uint64_t takeUnrecorded() { return unrecorded_.exchange(0, std::memory_order_relaxed); }

  std::mutex& mutex() { return mutex_; }  // fork() holds it
  void leaveRingsInChild();

 private:
  Ring* takeRing();  // mutex_ is held
  std::uint64_t recordsOfNextRing() const;

  const std::uint64_t owner_;
  const std::uint64_t records_;
  const ring::RingPolicy policy_;
  Waker* const waker_;
  std::atomic<std::uint64_t> unrecorded_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ThreadLog>> logs_;  // guarded by mutex_
  std::vector<Ring*> free_;                       // guarded by mutex_
  std::size_t rings_ = 0;                         // guarded by mutex_
  std::size_t rings_in_memory_ = 0;               // guarded by mutex_
  RingFile* file_ = nullptr;                      // guarded by mutex_
  bool waiting_allowed_ = false;                  // guarded by mutex_
};

}  // namespace pitwall::profiler
