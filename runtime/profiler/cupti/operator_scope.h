// Joins what an operator launches on a GPU to the operator's event.
#pragma once

#include <atomic>

#include "db/ids.h"

namespace pitwall::cupti {

// Of whoever records the launches: told, on the launching thread, which operator they belong to.
struct OperatorHooks {
  bool (*push)(CorrelationId correlation) noexcept;
  void (*pop)() noexcept;
};

// nullptr = nobody records; then a scope costs a load and a predicted branch. What it points to stays.
extern constinit std::atomic<const OperatorHooks*> g_operator_hooks;

// Around the launches of an operator of ours, on the launching thread. 0 is no operator.
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
