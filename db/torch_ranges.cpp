#include "db/torch_ranges.h"

#include <utility>

namespace pitwall {
namespace {

// "## forward ##" -> "forward"
std::string_view withoutRim(std::string_view name) {
  const auto is_rim = [](char c) { return c == '#' || c == ' ' || c == '_'; };
  while (!name.empty() && is_rim(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_rim(name.back())) name.remove_suffix(1);
  return name;
}

}  // namespace

bool isTorchRange(std::string_view name) {
  return name.starts_with("ProfilerStep#") || isTorchDataWait(name) || name.starts_with("Optimizer.");
}

bool isTorchCollective(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

bool isTorchDataWait(std::string_view name) { return name.starts_with("enumerate(Data"); }

bool isTorchBackward(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") ||
         name.starts_with("struct torch::autograd::") || name.find("Backward") != std::string_view::npos;
}

Phase phaseOfTorchRange(std::string_view name) {
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

}  // namespace pitwall
