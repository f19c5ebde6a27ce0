#include "runtime/profiler/thread_log.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pitwall::profiler {

namespace {

// All logs of this thread, one per profiler it has recorded for. Marks them when the thread ends.
struct OwnLogs {
  struct Entry {
    std::uint64_t owner;
    std::shared_ptr<ThreadLog> log;
  };
  std::vector<Entry> entries;
  std::string name;
  std::uint32_t device = 0;  // as RingHeader::device

  ~OwnLogs() {
    t_current.owner = 0;
    t_current.ring = nullptr;
    t_current.ended = true;
    for (Entry& entry : entries) entry.log->ended.store(true, std::memory_order_release);
  }
};

thread_local OwnLogs t_logs;

std::int64_t threadId() { return syscall(SYS_gettid); }

void nameRing(Ring& ring, std::string_view name) {
  const std::size_t length = std::min(name.size(), sizeof ring.thread_name - 1);
  std::memcpy(ring.thread_name, name.data(), length);
  ring.thread_name[length] = '\0';
}

}  // namespace

std::string currentThreadName() {
  if (!t_logs.name.empty()) return t_logs.name;
  if (threadId() == getpid()) return "main";
  char name[32] = {};
  if (pthread_getname_np(pthread_self(), name, sizeof name) == 0 && name[0] != '\0') return name;
  return "thread";
}

void rememberThreadName(std::string_view name) { t_logs.name = name; }

void rememberThreadDevice(std::uint8_t device) { t_logs.device = device + 1U; }

ThreadLogs::~ThreadLogs() {
  for (const auto& log : logs_) destroyRing(log->ring);
  for (Ring* ring : free_) destroyRing(ring);
}

// In a program with hundreds of threads rings are smaller: 32 of full size, 96 of an eighth, then of a 32nd.
std::uint64_t ThreadLogs::recordsOfNextRing() const {
  const std::uint64_t least = std::min<std::uint64_t>(records_, 1024);
  if (rings_ < 32) return records_;
  return std::max(least, rings_ < 128 ? records_ / 8 : records_ / 32);
}

Ring* ThreadLogs::takeRing() {
  if (!free_.empty()) {
    // The largest: rings of many threads are small, and are reused when few threads are left.
    const auto largest = std::max_element(
        free_.begin(), free_.end(), [](const Ring* a, const Ring* b) { return a->capacity < b->capacity; });
    Ring* const ring = *largest;
    free_.erase(largest);
    return ring;
  }
  Ring* const ring = makeRing(recordsOfNextRing());
  if (ring == nullptr) {
    unrecorded_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ++rings_;
  return ring;
}

Ring* ThreadLogs::makeRing(std::uint64_t records) {
  const std::uint64_t before = file_ == nullptr ? 0 : file_->header().file_bytes.load();
  Ring* const ring = createRing(records, file_, waker_);
  if (ring != nullptr && file_ != nullptr && file_->header().file_bytes.load() == before) ++rings_in_memory_;
  return ring;
}

// `device`: as RingHeader::device.
void ThreadLogs::use(const std::shared_ptr<ThreadLog>& log, std::uint32_t device) {
  Ring* const ring = log->ring;
  ring->tid = log->tid;
  ring->device = device;
  nameRing(*ring, log->name);
  const bool may_wait = waiting_allowed_ || policy_ != ring::RingPolicy::block;
  ring->policy = static_cast<std::uint32_t>(may_wait ? policy_ : ring::RingPolicy::drop);
  ring->in_use = 1;
  logs_.push_back(log);
}

Ring* ThreadLogs::forThisThread() {
  if (t_current.ended) return nullptr;
  for (const OwnLogs::Entry& entry : t_logs.entries) {
    if (entry.owner != owner_) continue;
    t_current.owner = owner_;
    t_current.ring = entry.log->ring;
    return t_current.ring;
  }
  const ScopedLock lock(mutex_);
  Ring* const ring = takeRing();
  if (ring == nullptr) return nullptr;
  auto log = std::make_shared<ThreadLog>();
  log->ring = ring;
  log->tid = threadId();
  log->name = currentThreadName();
  use(log, t_logs.device);
  // Logs of destroyed profilers are referenced only here.
  std::erase_if(t_logs.entries, [](const OwnLogs::Entry& entry) { return entry.log.use_count() == 1; });
  t_logs.entries.push_back({owner_, std::move(log)});
  t_current.owner = owner_;
  t_current.ring = ring;
  return ring;
}

Ring* ThreadLogs::forTrack(std::string_view name, std::uint32_t device, std::uint64_t records) {
  const ScopedLock lock(mutex_);
  auto log = std::make_shared<ThreadLog>();
  log->name = name;
  log->ring = makeRing(std::min(records_, records));
  if (log->ring == nullptr) return nullptr;
  use(log, device);
  return log->ring;
}

void ThreadLogs::nameThisThread(std::string_view name) {
  rememberThreadName(name);
  const ScopedLock lock(mutex_);
  for (const OwnLogs::Entry& entry : t_logs.entries) {
    if (entry.owner != owner_) continue;
    entry.log->name = name;
    if (entry.log->ring != nullptr) nameRing(*entry.log->ring, name);
  }
}

void ThreadLogs::keepIn(RingFile* file) {
  const ScopedLock lock(mutex_);
  // Rings in memory stay there when a recording without a file follows another.
  if (file == nullptr && file_ == nullptr) return;
  file_ = file;
  rings_in_memory_ = 0;
  const auto inMemory = [file](Ring* ring) { return moveRing(ring, file, true) ? 0U : 1U; };
  for (const auto& log : logs_) rings_in_memory_ += inMemory(log->ring);
  for (Ring* ring : free_) rings_in_memory_ += inMemory(ring);
}

std::size_t ThreadLogs::ringsInMemory() const {
  const ScopedLock lock(mutex_);
  return rings_in_memory_;
}

void ThreadLogs::setWaiting(bool allowed) {
  if (policy_ != ring::RingPolicy::block) return;
  const ScopedLock lock(mutex_);
  waiting_allowed_ = allowed;
  const auto policy = static_cast<std::uint32_t>(allowed ? policy_ : ring::RingPolicy::drop);
  for (const auto& log : logs_) log->ring->policy.store(policy, std::memory_order_release);
}

std::vector<std::shared_ptr<ThreadLog>> ThreadLogs::all() const {
  const ScopedLock lock(mutex_);
  return logs_;
}

std::string ThreadLogs::nameOf(const ThreadLog& log) const {
  const ScopedLock lock(mutex_);
  return log.name;
}

void ThreadLogs::recycle(const std::shared_ptr<ThreadLog>& log) {
  const ScopedLock lock(mutex_);
  std::erase(logs_, log);
  reset(*log->ring);
  free_.push_back(log->ring);
  log->ring = nullptr;
}

bool ThreadLogs::anyHalfFull() const {
  const ScopedLock lock(mutex_);
  return std::any_of(logs_.begin(), logs_.end(), [](const auto& log) { return halfFull(*log->ring); });
}

void ThreadLogs::leaveRingsInChild() {
  const auto leave = [](Ring* ring) { destroyRing(ring); };
  for (const auto& log : logs_) leave(log->ring);
  for (Ring* ring : free_) leave(ring);
  logs_.clear();
  free_.clear();
  file_ = nullptr;
  if (t_current.owner == owner_) {
    t_current.owner = 0;
    t_current.ring = nullptr;
  }
  std::erase_if(t_logs.entries, [this](const OwnLogs::Entry& entry) { return entry.owner == owner_; });
}

}  // namespace pitwall::profiler
