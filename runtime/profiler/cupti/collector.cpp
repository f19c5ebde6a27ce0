#include "runtime/profiler/cupti/collector.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "db/mutex.h"
#include "db/try.h"
#include "runtime/profiler/cupti/session.h"

namespace pitwall::cupti {

namespace {

Mutex g_mutex;  // held while attaching or detaching
std::unique_ptr<Session>& current() PITWALL_REQUIRES(g_mutex) {
  static auto* const session = new std::unique_ptr<Session>;  // CUPTI's thread outlives statics
  return *session;
}
std::atomic<const Library*> g_attached{nullptr};

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

}  // namespace

Status attach(Profiler& profiler) {
  const ScopedLock lock(g_mutex);
  if (current() != nullptr) return {};
  const auto library = PITWALL_TRY(openLibrary());
  current() = PITWALL_TRY(Session::open(*library, profiler));
  g_attached.store(library, std::memory_order_release);
  g_operator_hooks.store(&kHooks, std::memory_order_release);
  return {};
}

void detach() noexcept {
  const ScopedLock lock(g_mutex);
  g_operator_hooks.store(nullptr, std::memory_order_release);
  g_attached.store(nullptr, std::memory_order_release);
  if (current() != nullptr) current()->close();
  // The session is kept: CUPTI may call it back as long as the process lives.
  (void)current().release();
}

bool isAttached() noexcept { return g_attached.load(std::memory_order_relaxed) != nullptr; }

}  // namespace pitwall::cupti
