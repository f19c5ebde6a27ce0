// Which engine of a library a kernel uses: the library's first choice, or the fastest as measured (MXNET_CUDNN_AUTOTUNE_DEFAULT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pitwall::cuda {

enum class Autotune : std::uint8_t {
  off = 0,      // the first that fits the limit of workspaces
  limited = 1,  // the fastest of those that fit
  all = 2,      // the fastest
};

// A choice and what is known of it, as KernelChoices keeps it.
struct EngineChoice {
  std::size_t number = 0;
  double seconds = 0;  // 0 = not measured
  std::string name = {};

  std::string text() const;  // "3 0.000124000 engine 67 tensor core"
  // Empty where the text is no choice among engines of these names: another version of the library has others.
  static std::optional<EngineChoice> of(const std::string& text, std::span<const std::string> names);
};

// What a measurement found of one engine; empty: it could not run.
using Measured = std::vector<std::optional<double>>;  // seconds

// The engines that may be measured, by number; of workspaces in bytes. At least one, if there are any.
std::vector<std::size_t> allowedEngines(std::span<const std::int64_t> workspaces, Autotune autotune,
                                        std::int64_t workspace_limit);

// The fastest of those that ran; empty if none did.
std::optional<EngineChoice> fastestEngine(const Measured& seconds, std::span<const std::string> names);

}  // namespace pitwall::cuda
