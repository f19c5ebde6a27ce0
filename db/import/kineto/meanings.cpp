#include "db/import/kineto/meanings.h"

#include <utility>

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

bool isBackwardName(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
         name.starts_with("struct torch::autograd::") || name.find("Backward") != std::string_view::npos;
}

// "## forward ##" -> "forward"
std::string_view withoutRim(std::string_view name) {
  const auto is_rim = [](char c) { return c == '#' || c == ' ' || c == '_'; };
  while (!name.empty() && is_rim(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_rim(name.back())) name.remove_suffix(1);
  return name;
}

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

bool isAnnotation(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("enumerate(Data") ||
         name.starts_with("Optimizer.");
}

bool isOperatorName(std::string_view name) {
  return isBackwardName(name) ||
         (name.find("::") != std::string_view::npos && name.find(' ') == std::string_view::npos);
}

// Autograd numbers the operators that it records, and gives a backward function the number and the thread of
// the operator that it belongs to.
Phase phaseOfOperator(const ChromeEvent& event, std::string_view name) {
  const bool numbered = event.has(Arg::sequenceNumber);
  if (numbered && event.argInteger(Arg::forwardThread).value_or(0) > 0) return Phase::backward;
  if (isBackwardName(name)) return Phase::backward;
  return numbered ? Phase::forward : Phase::none;
}

Phase phaseOfRange(std::string_view name) {
  if (name.starts_with("Optimizer.")) return Phase::update;
  const std::string_view plain = withoutRim(name);
  constexpr std::pair<std::string_view, Phase> kNames[] = {
      {"forward", Phase::forward},   {"DistributedDataParallel.forward", Phase::forward},
      {"backward", Phase::backward}, {"loss.backward", Phase::backward},
      {"optimizer", Phase::update},  {"optimizer_step", Phase::update},
      {"zero_grad", Phase::update}};
  for (const auto& [known, phase] : kNames) {
    if (plain == known) return phase;
  }
  return Phase::none;
}

Phase phaseOfArrow(std::string_view category, int order) {
  if (category != "fwdbwd" && category != "fwd_bwd" && category != "forward_backward") return Phase::none;
  return order == 0 ? Phase::forward : order == 2 ? Phase::backward : Phase::none;
}

}  // namespace pitwall::import
