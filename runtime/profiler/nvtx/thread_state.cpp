#include "runtime/profiler/nvtx/thread_state.h"

#include <atomic>
#include <memory>

#include "runtime/profiler/thread_log.h"

namespace pitwall::nvtx {

constinit thread_local ThreadState* t_state __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit thread_local bool t_ended = false;

std::atomic<void (*)()> g_end_hook{nullptr};

struct Owner {
  std::unique_ptr<ThreadState> state;
  ~Owner() {
    if (void (*const hook)() = g_end_hook.load(); hook != nullptr && state != nullptr) hook();
    t_state = nullptr;
    t_ended = true;
  }
};

thread_local Owner t_owner;

}  // namespace

ThreadState* makeThreadState(std::uint32_t generation) {
  if (t_ended) return nullptr;
  if (t_state == nullptr) {
    // The profiler's thread-local data must be created before this state, so that it is destroyed later.
    (void)profiler::currentThreadName();
    t_owner.state = std::make_unique<ThreadState>();
    t_state = t_owner.state.get();
  }
  if (t_state->generation != generation) {
    t_state->open.clear();  // of the parent's thread, before fork()
    t_state->by_address.fill({});
    t_state->by_content.fill({});
    t_state->generation = generation;
  }
  return t_state;
}

void setThreadEndHook(void (*hook)()) { g_end_hook.store(hook); }

}  // namespace pitwall::nvtx
