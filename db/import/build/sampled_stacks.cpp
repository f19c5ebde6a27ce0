#include "db/import/build/sampled_stacks.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostFrames = std::size_t{1} << 18;
constexpr std::size_t kMostFrameBytes = std::size_t{48} << 20;
constexpr std::size_t kMostStacks = std::size_t{1} << 20;
constexpr std::size_t kDeepestStack = 1024;

}  // namespace

const char* languageOf(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyx") || file.starts_with('<') ? "python" : "native";
}

FrameId SampledStacks::newFrame(FrameInfo info) {
  frame_bytes_ += key_.size();
  if (frames_.size() >= kMostFrames || frame_bytes_ > kMostFrameBytes) {
    builder_.tally().repaired(
        "functions of stacks beyond 262144 different ones or 48 MiB: named '[other functions]'",
        info.function);
    return builder_.sink().frame({"[other functions]", "", 0, "native"});
  }
  FrameInfo clean;
  appendClean(info.function, clean.function);
  appendClean(info.file, clean.file);
  clean.line = std::max(0, info.line);
  clean.language = std::move(info.language);
  return frames_[key_] = builder_.sink().frame(clean);
}

StackId SampledStacks::stack(StackId caller, FrameId frame) {
  const std::uint64_t key = std::uint64_t{caller.value} << 32 | frame.value;
  if (const auto found = stacks_.find(key); found != stacks_.end()) return found->second;
  if (stacks_.size() >= kMostStacks) {
    builder_.tally().repaired("stacks beyond 1048576 different ones: without their innermost functions", "");
    return caller;
  }
  return stacks_[key] = builder_.sink().stack({caller, frame});
}

StackId SampledStacks::stack(const std::vector<FrameId>& outermost_first) {
  StackId made;
  const std::size_t depth = std::min(outermost_first.size(), kDeepestStack);
  for (std::size_t i = 0; i < depth; ++i) made = stack(made, outermost_first[i]);
  if (depth < outermost_first.size())
    builder_.tally().repaired("stacks deeper than 1024 functions: without their innermost ones", "");
  return made;
}

void SampledStacks::add(TrackRef stacks_of_thread, std::int64_t from_ns, std::int64_t to_ns, StackId stack) {
  if (!InputClock::inRange(from_ns) || !InputClock::inRange(to_ns))
    return builder_.tally().dropped("samples with a time out of range", fmt::format("{} ns", from_ns));
  const auto [known, fresh] = until_.try_emplace(stacks_of_thread.index, from_ns);
  std::int64_t& until = known->second;
  if (to_ns < until || (to_ns == until && to_ns > from_ns))
    return builder_.tally().dropped("samples that end before the one before them",
                                    fmt::format("{} ns", to_ns));
  if (from_ns > until) builder_.sample(stacks_of_thread, until, 0);  // nothing is known of the time between
  builder_.sample(stacks_of_thread, std::max(from_ns, until), stack.value);
  until = to_ns;
}

void SampledStacks::end() {
  for (const auto& [track, until] : until_) builder_.sample(TrackRef{track}, until, 0);
  until_.clear();
}

}  // namespace pitwall::import
