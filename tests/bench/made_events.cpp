#include "tests/bench/made_events.h"

#include <fmt/format.h>

namespace pitwall::bench {

namespace {

constexpr std::size_t kLayers = 24, kOperatorsOfLayer = 8;
constexpr std::size_t kScopes = 1 + kLayers * (1 + kOperatorsOfLayer);  // of an iteration
constexpr std::size_t kNames = 60, kCalls = 9, kKernels = 310;

}  // namespace

MadeEvents::MadeEvents(MadeTrack what, std::uint64_t seed, TraceSink& sink)
    : what_(what), state_(seed * 0x9e3779b97f4a7c15 + 1), correlation_(seed * 100) {
  const std::size_t pattern = what == MadeTrack::scopes  ? kScopes
                              : what == MadeTrack::calls ? kCalls
                                                         : kKernels;
  for (std::size_t i = 0; i < pattern; ++i) {
    // A few lengths are a hundred times the others, as with convolutions and additions.
    const std::uint64_t dice = random();
    lengths_.push_back(2'000 + static_cast<TimeNs>(dice % 20'000) * ((dice >> 32) % 8 == 0 ? 40 : 1));
    const std::size_t name = what == MadeTrack::calls ? i : static_cast<std::size_t>(random() % kNames);
    names_.push_back(sink.string(fmt::format("{}_{}", static_cast<int>(what), name)));
    const auto grid = static_cast<std::int32_t>(1 + random() % 512);
    kernels_.push_back(
        sink.kernelFacts({.grid = {grid, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 64}));
    args_.push_back(sink.string(fmt::format("{{\"input_shapes\":\"[{}, {}]\"}}", grid, name)));
  }
}

std::uint64_t MadeEvents::random() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_;
}

TimeNs MadeEvents::around(TimeNs length) {
  const std::uint64_t dice = random();
  const auto sum = static_cast<TimeNs>((dice & 0xffff) + (dice >> 16 & 0xffff) + (dice >> 32 & 0xffff));
  TimeNs varied = length + length * (sum - 98'304) / 600'000;
  if ((dice >> 48) % 500 == 0) varied *= 20;  // interrupted
  return varied;
}

Event MadeEvents::scope() {
  Event event;
  const std::size_t in_layer = at_ == 0 ? 0 : (at_ - 1) % (1 + kOperatorsOfLayer);
  const std::uint16_t depth = at_ == 0 ? 0 : in_layer == 0 ? 1 : 2;
  event.start_ns = now_;
  event.dur_ns = around(depth == 2 ? lengths_[at_] : depth == 1 ? 160'000 : 4'000'000);
  event.depth = depth;
  event.name = names_[at_];
  now_ += depth == 2 ? event.dur_ns + around(600) : around(300);
  at_ = (at_ + 1) % kScopes;
  return event;
}

Event MadeEvents::call() {
  Event event;
  event.kind = EventKind::api;
  event.start_ns = now_;
  event.dur_ns = around(lengths_[at_] / 4);
  event.name = names_[at_];
  event.correlation = correlation_ += 1 + random() % 3;
  now_ += event.dur_ns + around(9'000);
  at_ = random() % 3 == 0 ? static_cast<std::size_t>(random() % kCalls) : 0;
  return event;
}

Event MadeEvents::kernel() {
  Event event;
  const bool copy = at_ % 31 == 30;
  event.kind = copy ? EventKind::copy : EventKind::kernel;
  event.value = copy ? static_cast<std::int64_t>(4096 * (at_ + 1)) : 0;
  event.start_ns = now_;
  event.dur_ns = around(lengths_[at_]);
  event.name = names_[at_];
  event.kernel = copy ? KernelId{} : kernels_[at_];
  event.args = at_ % 4 == 0 ? args_[at_] : StringId{};
  event.correlation = correlation_ += 1 + random() % 3;
  now_ += event.dur_ns + around(1'500);
  at_ = (at_ + 1) % kKernels;
  return event;
}

void MadeEvents::next(std::size_t count, std::vector<Event>& events) {
  events.clear();
  for (std::size_t i = 0; i < count; ++i) {
    Event event = what_ == MadeTrack::scopes ? scope() : what_ == MadeTrack::calls ? call() : kernel();
    event.pushed_ns = event.ready_ns = event.start_ns;
    events.push_back(event);
  }
}

}  // namespace pitwall::bench
