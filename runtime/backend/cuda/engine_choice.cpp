#include "runtime/backend/cuda/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace pitwall::cuda {

std::string EngineChoice::text() const { return fmt::format("{} {:.9f} {}", number, seconds, name); }

std::optional<EngineChoice> EngineChoice::of(const std::string& text, std::span<const std::string> names) {
  EngineChoice choice;
  int read = 0;
  if (std::sscanf(text.c_str(), "%zu %lf %n", &choice.number, &choice.seconds, &read) != 2)
    return std::nullopt;
  choice.name = text.substr(static_cast<std::size_t>(read));
  if (choice.number >= names.size() || names[choice.number] != choice.name || !(choice.seconds >= 0))
    return std::nullopt;
  return choice;
}

std::vector<std::size_t> allowedEngines(std::span<const std::int64_t> workspaces, Autotune autotune,
                                        std::int64_t workspace_limit) {
  std::vector<std::size_t> allowed;
  for (std::size_t i = 0; i < workspaces.size(); ++i)
    if (autotune == Autotune::all || workspaces[i] <= workspace_limit) allowed.push_back(i);
  // A kernel that needs more than the limit is better than none.
  if (allowed.empty() && !workspaces.empty())
    allowed.push_back(static_cast<std::size_t>(std::min_element(workspaces.begin(), workspaces.end()) -
                                               workspaces.begin()));
  return allowed;
}

std::optional<EngineChoice> fastestEngine(const Measured& seconds, std::span<const std::string> names) {
  std::optional<EngineChoice> best;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (!seconds[i] || (best && best->seconds <= *seconds[i])) continue;
    best = EngineChoice{.number = i, .seconds = *seconds[i], .name = names[i]};
  }
  return best;
}

}  // namespace pitwall::cuda
