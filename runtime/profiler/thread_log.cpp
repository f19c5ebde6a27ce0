#include "runtime/profiler/thread_log.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace pitwall::profiler {

namespace {

constinit thread_local CurrentRing t_current;

// Every log of this thread, one per profiler it has recorded for. Tells them when the thread ends.
struct OwnLogs {
  struct Entry {
    std::uint64_t owner;
    std::shared_ptr<ThreadLog> log;
  };
  std::vector<Entry> entries;
  std::string name;

  ~OwnLogs() {
    t_current.owner = 0;
    t_current.ring = nullptr;
    t_current.ended = true;
    for (Entry& entry : entries) entry.log->ended.store(true, std::memory_order_release);
  }
};

thread_local OwnLogs t_logs;

std::int64_t threadId() { return syscall(SYS_gettid); }

}  // namespace

CurrentRing& currentRing() { return t_current; }

std::string currentThreadName() {
  if (!t_logs.name.empty()) return t_logs.name;
  if (threadId() == getpid()) return "main";
  char name[32] = {};
  if (pthread_getname_np(pthread_self(), name, sizeof name) == 0 && name[0] != '\0') return name;
  return "thread";
}

void rememberThreadName(std::string_view name) { t_logs.name = name; }

ThreadLogs::~ThreadLogs() {
  for (const auto& log : logs_) Ring::destroy(log->ring);
  for (Ring* ring : free_) Ring::destroy(ring);
}

Ring* ThreadLogs::forThisThread() {
  if (t_current.ended) return nullptr;
  for (const OwnLogs::Entry& entry : t_logs.entries) {
    if (entry.owner != owner_) continue;
    t_current.owner = owner_;
    t_current.ring = entry.log->ring;
    return t_current.ring;
  }
  const std::scoped_lock lock(mutex_);
  Ring* ring = nullptr;
  if (!free_.empty()) {
    ring = free_.back();
    free_.pop_back();
  } else {
    ring = Ring::create(records_);
    if (ring == nullptr) {
      unrecorded_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    ++rings_;
  }
  auto log = std::make_shared<ThreadLog>();
  log->ring = ring;
  log->tid = threadId();
  log->name = currentThreadName();
  logs_.push_back(log);
  // Logs of profilers that are gone are only kept by us.
  std::erase_if(t_logs.entries, [](const OwnLogs::Entry& entry) { return entry.log.use_count() == 1; });
  t_logs.entries.push_back({owner_, std::move(log)});
  t_current.owner = owner_;
  t_current.ring = ring;
  return ring;
}

void ThreadLogs::nameThisThread(std::string_view name) {
  rememberThreadName(name);
  const std::scoped_lock lock(mutex_);
  for (const OwnLogs::Entry& entry : t_logs.entries) {
    if (entry.owner == owner_) entry.log->name = name;
  }
}

std::vector<std::shared_ptr<ThreadLog>> ThreadLogs::all() const {
  const std::scoped_lock lock(mutex_);
  return logs_;
}

std::string ThreadLogs::nameOf(const ThreadLog& log) const {
  const std::scoped_lock lock(mutex_);
  return log.name;
}

void ThreadLogs::recycle(const std::shared_ptr<ThreadLog>& log) {
  const std::scoped_lock lock(mutex_);
  std::erase(logs_, log);
  log->ring->reset();
  free_.push_back(log->ring);
  log->ring = nullptr;
}

bool ThreadLogs::anyHalfFull() const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(logs_.begin(), logs_.end(), [](const auto& log) { return log->ring->halfFull(); });
}

std::size_t ThreadLogs::ringCount() const {
  const std::scoped_lock lock(mutex_);
  return rings_;
}

}  // namespace pitwall::profiler
