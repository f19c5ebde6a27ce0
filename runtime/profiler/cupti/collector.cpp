#include "runtime/profiler/cupti/collector.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/profiler/cupti/session.h"

namespace pitwall::cupti {

namespace {

Mutex g_mutex;  // held while attaching or detaching
// CUPTI may call a session back as long as the process lives: none is destroyed.
Session* g_current PITWALL_GUARDED_BY(g_mutex) = nullptr;
std::vector<Session*>& closed() PITWALL_REQUIRES(g_mutex) {  // the last one at the end
  static auto* const sessions = new std::vector<Session*>;
  return *sessions;
}
bool g_finished PITWALL_GUARDED_BY(g_mutex) = false;
std::atomic<const Library*> g_attached{nullptr};
std::atomic<bool> g_in_child{false};  // forked after attaching: CUDA and CUPTI do not work here

bool pushOperator(CorrelationId correlation) noexcept {
  const Library* const library = g_attached.load(std::memory_order_acquire);
  return library != nullptr &&
         library->pushExternal(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, correlation) == CUPTI_SUCCESS;
}

void popOperator() noexcept {
  const Library* const library = g_attached.load(std::memory_order_acquire);
  std::uint64_t ignored = 0;
  if (library != nullptr) (void)library->popExternal(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &ignored);
}

constexpr OperatorHooks kHooks{pushOperator, popOperator};

void removeHooks() {
  g_operator_hooks.store(nullptr, std::memory_order_release);
  g_attached.store(nullptr, std::memory_order_release);
}

void registerEnd() {
  static const bool registered = [] {
    (void)std::atexit(finish);
    (void)std::at_quick_exit(finish);
    (void)pthread_atfork(nullptr, nullptr, [] {
      g_in_child.store(true);
      removeHooks();
    });
    return true;
  }();
  (void)registered;
}

void end(void (Session::*how)() noexcept) {
  // Without waiting: a thread ended by another thread's exit() may hold it.
  if (g_in_child.load() || !g_mutex.tryLock()) return;
  const ScopedLock lock(g_mutex, std::adopt_lock);
  g_finished = true;
  removeHooks();
  if (g_current != nullptr) closed().push_back(std::exchange(g_current, nullptr));
  for (Session* const session : closed()) (session->*how)();
}

}  // namespace

Status attach(Profiler& profiler, Extent extent) {
  if (g_in_child.load()) {
    return fail(ErrorCode::unsupported,
                "GPU activity is not recorded in a process that was forked from one that used CUDA");
  }
  const ScopedLock lock(g_mutex);
  if (g_current != nullptr) return {};
  if (g_finished)
    return fail(ErrorCode::unsupported,
                "GPU activity is not recorded: the process was ending when CUDA started");
  const auto library = PITWALL_TRY(openLibrary());
  if (!closed().empty()) closed().back()->cancelRemoval();
  g_current = PITWALL_TRY(Session::open(*library, profiler, extent)).release();
  registerEnd();  // after CUPTI has registered what it calls at the end, so that it comes before that
  g_attached.store(library, std::memory_order_release);
  g_operator_hooks.store(&kHooks, std::memory_order_release);
  return {};
}

void detach() noexcept {
  if (g_in_child.load()) return;
  const ScopedLock lock(g_mutex);
  removeHooks();
  if (g_current == nullptr) return;
  g_current->close();
  closed().push_back(std::exchange(g_current, nullptr));
}

void finish() noexcept { end(&Session::finish); }

void abandon() noexcept { end(&Session::abandon); }

std::string takeNotes() {
  std::string text;
  if (g_in_child.load()) return text;
  const ScopedLock lock(g_mutex);
  for (Session* const session : closed()) {
    for (const std::string& note : session->notes()) text += note + "\n";
    session->clearNotes();
  }
  return text;
}

bool isAttached() noexcept { return g_attached.load(std::memory_order_relaxed) != nullptr; }

}  // namespace pitwall::cupti
