// Joins the GPU work that an operator launches to the operator's event.
#pragma once

#include <atomic>

#include "db/ids.h"

namespace pitwall::cupti {

// Implemented by the recorder of launches: gets, on the launching thread, the operator that they belong to.
struct OperatorHooks {
  bool (*push)(CorrelationId correlation) noexcept;
  void (*pop)() noexcept;
};

// nullptr = not recorded; then a scope costs a load and a predicted branch. The object is never destroyed.
extern constinit std::atomic<const OperatorHooks*> g_operator_hooks;

// Placed around the launches of an operator of the runtime, on the launching thread. 0 = no operator.
class OperatorScope {
 public:
  explicit OperatorScope(CorrelationId correlation) {
    const OperatorHooks* const hooks = g_operator_hooks.load(std::memory_order_acquire);
    if (hooks != nullptr && correlation != 0 && hooks->push(correlation)) [[unlikely]]
      open_ = hooks;
  }
  ~OperatorScope() {
    if (open_ != nullptr) [[unlikely]]
      open_->pop();
  }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  const OperatorHooks* open_ = nullptr;
};

}  // namespace pitwall::cupti
