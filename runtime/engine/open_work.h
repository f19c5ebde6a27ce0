// Work that operators of GPUs have put on streams and that is not done yet. Operators of GPUs start behind it, as their
// streams wait for it; every other operator, and a thread that waits, is held until it is done.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/engine/operator_node.h"
#include "runtime/engine/spin.h"

namespace pitwall::engine {

// The work of one operator or of one bulk segment. Thread-safe.
class OpenWork {
 public:
  // `follows`: it starts when these are done.
  OpenWork(void* stream, std::vector<std::shared_ptr<OpenWork>> follows)
      : stream_(stream), follows_(std::move(follows)) {}

  void* stream() const { return stream_; }
  // Once, before others get to know the work.
  void setEvent(void* event) { event_ = event; }
  StreamPlace place() const { return {stream_, event_}; }

  bool isDone() const { return done_.load(std::memory_order_acquire); }
  // Has `op` wait for the end. False: the work is done.
  bool hold(Operator& op);
  // Whether it, or what it follows, has failed. Precondition: it is done, and so is what it follows.
  bool hasFailed() const { return failed_; }
  // The work is done: true when it has failed, or what it follows.
  bool end(bool failed);
  // Afterwards, once its errors are known: the operators that have waited. Each has one reason less to wait.
  std::vector<Operator*> release();

 private:
  void* const stream_;
  void* event_ = nullptr;
  std::vector<std::shared_ptr<OpenWork>> follows_;  // until it is done
  bool failed_ = false;
  std::atomic<bool> done_{false};
  SpinLock lock_;
  std::vector<Operator*> held_ PITWALL_GUARDED_BY(lock_);
};

using OpenWorkPtr = std::shared_ptr<OpenWork>;

// The open work on variables. Thread-safe.
class OpenWorks {
 public:
  // False while no operator has left work on a stream.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // What these accesses follow: the last write of a variable and, for a write, the reads after it.
  std::vector<OpenWorkPtr> before(std::span<const Access> uses);
  // Later accesses of these variables follow `work`.
  void add(std::span<const Access> uses, const OpenWorkPtr& work);
  void forget(const VariableState& variable);

 private:
  struct Users {
    OpenWorkPtr writer;
    std::vector<OpenWorkPtr> readers;  // since
  };
  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::unordered_map<const VariableState*, Users> users_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall::engine
