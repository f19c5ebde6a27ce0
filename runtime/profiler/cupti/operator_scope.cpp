#include "runtime/profiler/cupti/operator_scope.h"

namespace pitwall::cupti {

constinit std::atomic<const OperatorHooks*> g_operator_hooks{nullptr};

}  // namespace pitwall::cupti
