// The rings of threads, and of tracks that belong to no thread: those of devices (device_tracks.h), and others.
//
// A thread's first record creates a ring (or takes one of a dead thread); a thread-local pointer finds it
// afterwards in a few instructions. When the thread ends its log is marked; the drain empties the ring and
// returns it for the next thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/ids.h"
#include "db/mutex.h"
#include "runtime/profiler/ring.h"

namespace pitwall::profiler {

struct ThreadLog {
  Ring* ring = nullptr;
  std::int64_t tid = 0;            // 0 = a track of no thread
  std::string name;                // guarded by ThreadLogs::mutex_
  std::atomic<bool> ended{false};  // set after the thread's last record

  // Used only by the drain.
  TrackId track;             // in the current recording; none = not passed to the sink yet
  std::uint64_t events = 0;  // written to that track
};

// The name given to the calling thread, or a default.
std::string currentThreadName();
void rememberThreadName(std::string_view name);
// The device whose operators the calling thread runs, as records number it.
void rememberThreadDevice(std::uint8_t device);

class ThreadLogs {
 public:
  // `owner` is the profiler's id; `waker` is signalled when a ring is half full (nullptr = none), and
  // outlives this object.
  ThreadLogs(std::uint64_t owner, std::uint64_t records, ring::RingPolicy policy, Waker* waker)
      : owner_(owner), records_(records), policy_(policy), waker_(waker) {}
  ~ThreadLogs();
  ThreadLogs(const ThreadLogs&) = delete;
  ThreadLogs& operator=(const ThreadLogs&) = delete;

  // The calling thread's ring, created when it has none. nullptr when there is no memory; the loss is
  // counted.
  Ring* forThisThread();

  // A ring for a track of this name and of no thread, with at most so many records; `device` as RingHeader::device. It
  // stays until the end. nullptr when there is no memory.
  Ring* forTrack(std::string_view name, std::uint32_t device, std::uint64_t records);

  void nameThisThread(std::string_view name);

  // Moves all existing and future rings to a file, or to memory (nullptr). Only while nothing is recorded.
  void keepIn(RingFile* file);
  // Rings that the file had no space for.
  std::size_t ringsInMemory() const;

  // Sets what threads do when their ring is full: the chosen policy, or never wait.
  void setWaiting(bool allowed);

  // For the drain: all logs, those of ended threads included.
  std::vector<std::shared_ptr<ThreadLog>> all() const;
  std::string nameOf(const ThreadLog& log) const;
  // For the drain: removes a log whose thread has ended and whose ring is empty.
  void recycle(const std::shared_ptr<ThreadLog>& log);

  bool anyHalfFull() const;

  // Records lost for lack of memory since the last call.
  std::uint64_t takeUnrecorded() { return unrecorded_.exchange(0, std::memory_order_relaxed); }

  Mutex& mutex() PITWALL_RETURN_CAPABILITY(mutex_) { return mutex_; }  // fork() holds it
  void leaveRingsInChild() PITWALL_REQUIRES(mutex_);

 private:
  Ring* takeRing() PITWALL_REQUIRES(mutex_);
  Ring* makeRing(std::uint64_t records) PITWALL_REQUIRES(mutex_);
  void use(const std::shared_ptr<ThreadLog>& log, std::uint32_t device) PITWALL_REQUIRES(mutex_);
  std::uint64_t recordsOfNextRing() const PITWALL_REQUIRES(mutex_);

  const std::uint64_t owner_;
  const std::uint64_t records_;
  const ring::RingPolicy policy_;
  Waker* const waker_;
  std::atomic<std::uint64_t> unrecorded_{0};
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ThreadLog>> logs_ PITWALL_GUARDED_BY(mutex_);
  std::vector<Ring*> free_ PITWALL_GUARDED_BY(mutex_);
  std::size_t rings_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::size_t rings_in_memory_ PITWALL_GUARDED_BY(mutex_) = 0;
  RingFile* file_ PITWALL_GUARDED_BY(mutex_) = nullptr;
  bool waiting_allowed_ PITWALL_GUARDED_BY(mutex_) = false;
};

}  // namespace pitwall::profiler
