#include "db/import/kineto/meanings.h"

#include "db/torch_ranges.h"

namespace pitwall::import {
namespace {

struct CategoryRole {
  std::string_view category;
  KinetoRole role;
};

// Both spellings: since 2022, and of 2021.
constexpr CategoryRole kRoles[] = {
    {"cpu_op", KinetoRole::hostOperator},
    {"Operator", KinetoRole::hostOperator},
    {"cuda_runtime", KinetoRole::hostCall},
    {"cuda_driver", KinetoRole::hostCall},
    {"Runtime", KinetoRole::hostCall},
    {"hip_runtime", KinetoRole::hostCall},
    {"xpu_runtime", KinetoRole::hostCall},
    {"mtia_runtime", KinetoRole::hostCall},
    {"privateuse1_runtime", KinetoRole::hostCall},
    {"privateuse1_driver", KinetoRole::hostCall},
    {"kernel", KinetoRole::kernel},
    {"Kernel", KinetoRole::kernel},
    {"mtia_ccp_events", KinetoRole::mtiaWork},
    {"gpu_memcpy", KinetoRole::copy},
    {"Memcpy", KinetoRole::copy},
    {"gpu_memset", KinetoRole::copy},
    {"Memset", KinetoRole::copy},
    {"cuda_sync", KinetoRole::deviceSync},
    {"gpu_user_annotation", KinetoRole::deviceAnnotation},
    {"cuda_profiler_range", KinetoRole::profilerRange},
    {"user_annotation", KinetoRole::annotation},
    {"python_function", KinetoRole::plain},
    {"overhead", KinetoRole::plain},
    {"Trace", KinetoRole::plain},
};

}  // namespace

KinetoRole kinetoRoleOf(std::string_view category) {
  for (const CategoryRole& entry : kRoles) {
    if (entry.category == category) return entry.role;
  }
  return KinetoRole::none;
}

bool isCollective(std::string_view kernel) {
  return kernel.starts_with("nccl") || kernel.starts_with("rccl") || kernel.starts_with("void nccl") ||
         kernel.starts_with("mscclKernel");
}

bool isOperatorName(std::string_view name) {
  return isTorchBackward(name) ||
         (name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos);
}

// Autograd numbers the operators that it records, and gives a backward function the number and the thread of
// the operator that it belongs to.
Phase phaseOfOperator(const ChromeEvent& event, std::string_view name) {
  const bool numbered = event.has(Arg::sequenceNumber);
  if (numbered && event.argInteger(Arg::forwardThread).value_or(0) > 0) return Phase::backward;
  if (isTorchBackward(name)) return Phase::backward;
  return numbered ? Phase::forward : Phase::none;
}

Phase phaseOfArrow(std::string_view category, int order) {
  if (category != "fwdbwd" && category != "fwd_bwd" && category != "forward_backward") return Phase::none;
  return order == 0 ? Phase::forward : order == 2 ? Phase::backward : Phase::none;
}

}  // namespace pitwall::import
