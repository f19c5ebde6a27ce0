#include "db/unfinished.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <system_error>
#include <thread>

#include "db/mutex.h"

namespace pitwall {

namespace {

using Kinds = std::map<std::string, Unfinished::Kind>;

struct Names {
  Mutex mutex;
  Kinds kinds PITWALL_GUARDED_BY(mutex);
};

// Never destroyed: a signal may come while the process ends.
Names& names() {
  static Names& all = *new Names;
  return all;
}

std::string draftOf(const std::string& path, pid_t process) {
  return path + "." + std::to_string(process) + ".draft";
}

// Leftovers say by their names what they are.
void removeAt(const std::string& path, Unfinished::Kind kind, pid_t process) noexcept {
  if (kind == Unfinished::Kind::file) {
    for (const std::string& file : {path, draftOf(path, process)}) {
      for (const char* suffix : {"", "-wal", "-shm", "-journal"}) ::unlink((file + suffix).c_str());
    }
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void removeAll(const Kinds& kinds, pid_t process) noexcept {
  for (const auto& [path, kind] : kinds) removeAt(path, kind, process);
}

using Count = std::atomic<int>;
static_assert(Count::is_always_lock_free, "is shared between processes and changed by a signal handler");

// Threads of this process that have stopped, in memory that is shared with the process that stops them.
Count* stopped_threads = nullptr;

// No part of this program uses it for anything else.
const int kStop = SIGRTMAX;

void stopThisThread(int) {
  stopped_threads->fetch_add(1);
  for (;;) ::pause();
}

std::set<pid_t> threadsOf(pid_t process) {
  std::set<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(process) + "/task", error), end;
       !error && task != end; task.increment(error)) {
    const std::string name = task->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.insert(thread);
  }
  return threads;
}

// Stops the threads of `process`, and those that they begin meanwhile, but for `kept`. A thread in a system call that
// no signal interrupts is waited for, for a second.
void stopThreads(pid_t process, pid_t kept) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::set<pid_t> sent;
  while (std::chrono::steady_clock::now() < end) {
    bool more = false;
    for (const pid_t thread : threadsOf(process)) {
      if (thread == kept || sent.contains(thread)) continue;
      if (::syscall(SYS_tgkill, process, thread, kStop) != 0) continue;  // it has ended
      sent.insert(thread);
      more = true;
    }
    if (!more && stopped_threads->load() >= static_cast<int>(sent.size())) return;
    std::this_thread::yield();
  }
}

}  // namespace

std::string draftPath(const std::string& path) { return draftOf(path, ::getpid()); }

void removeWithSideFiles(const std::string& path) noexcept {
  removeAt(path, Unfinished::Kind::file, ::getpid());
}

Unfinished::Unfinished(std::string path, Kind kind) : path_(std::move(path)), kind_(kind) {
  const ScopedLock lock(names().mutex);
  names().kinds.emplace(path_, kind_);
}

Unfinished Unfinished::madeBy(const std::function<std::string()>& make, Kind kind) {
  Unfinished made;
  const ScopedLock lock(names().mutex);
  made.path_ = make();
  made.kind_ = kind;
  if (!made.path_.empty()) names().kinds.emplace(made.path_, kind);
  return made;
}

Unfinished::Unfinished(Unfinished&& other) noexcept
    : path_(std::exchange(other.path_, {})), kind_(other.kind_) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    kind_ = other.kind_;
  }
  return *this;
}

void Unfinished::remove() noexcept {
  if (path_.empty()) return;
  removeAt(path_, kind_, ::getpid());
  const ScopedLock lock(names().mutex);
  names().kinds.erase(path_);
}

// The other threads must not make a file behind the one that removes. Where they stop they may hold the lock of malloc():
// another process, which has it for itself, stops them and removes.
void removeUnfinished() noexcept PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  names().mutex.lock();  // and never released
  const Kinds& kinds = names().kinds;
  if (kinds.empty()) return;
  const pid_t process = ::getpid();
  void* shared = ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return removeAll(kinds, process);
  stopped_threads = new (shared) Count(0);
  struct sigaction action {};
  action.sa_handler = stopThisThread;
  ::sigaction(kStop, &action, nullptr);
  const pid_t thread = ::gettid();
  const pid_t remover = ::fork();
  if (remover < 0) return removeAll(kinds, process);
  if (remover == 0) {
    stopThreads(process, thread);
    removeAll(kinds, process);
    ::_exit(0);
  }
  while (::waitpid(remover, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace pitwall
