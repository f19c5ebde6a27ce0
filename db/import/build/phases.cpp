#include "db/import/build/phases.h"

#include <algorithm>

#include "db/import/build/bulk_name.h"
#include "db/import/build/names.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kDeepestRanges = 4096;
constexpr std::size_t kMostGradients = 4096;

// MXNet's name of an operator's gradient, where it is irregular.
std::string_view gradientName(std::string_view name) {
  if (name.starts_with("_")) name.remove_prefix(1);
  if (name == "Flatten" || name == "identity") return "copy";
  if (name == "Reshape" || name == "expand_dims" || name == "squeeze") return "reshape";
  if (name.starts_with("elemwise_")) return name.substr(9);
  return name;
}

}  // namespace

void Phases::beginInput() {
  infers_ = false;
  gradients_.clear();
  bulk_ = {};
  backward_runs_bulks_ = others_run_bulks_ = false;
  endFlush();
}

void Phases::known(OperatorId id, const OperatorFacts& facts) {
  if (!id) return;
  if (place_.size() <= id.value) place_.resize(std::size_t{id.value} + 1, 0);
  if (place_[id.value] != 0) return;
  facts_.push_back({facts});
  place_[id.value] = static_cast<std::uint32_t>(facts_.size());
}

void Phases::range(StringId name, Phase phase) {
  if (ranges_.size() <= name.value) ranges_.resize(std::size_t{name.value} + 1, Phase::none);
  ranges_[name.value] = phase;
}

void Phases::gradient(std::string_view name) {
  if (gradients_.size() < kMostGradients) gradients_.emplace(name);
}

Phase Phases::phaseOf(OperatorId id) const {
  const bool is_known = id.value < place_.size() && place_[id.value] != 0;
  return is_known ? facts_[place_[id.value] - 1].facts.phase : Phase::none;
}

bool Phases::hasGradient(OperatorId id) {
  if (gradients_.empty() || id.value >= place_.size() || place_[id.value] == 0) return false;
  if (twins_.size() <= id.value) twins_.resize(place_.size(), Twin::unknown);
  Twin& twin = twins_[id.value];
  if (twin == Twin::unknown) {
    twin = Twin::no;
    eachOfBulk(facts_[place_[id.value] - 1].facts.name, [&](std::string_view name) {
      if (gradients_.contains(std::string(gradientName(name)))) twin = Twin::yes;
    });
  }
  return twin == Twin::yes;
}

Phase Phases::ownPhase(const Event& event) {
  Phase own = Phase::none;
  if (event.kind == EventKind::operatorRun) {
    own = phaseOf(event.op);
  } else if (event.kind == EventKind::dataWait) {
    own = Phase::data;
  } else if (event.name.value < ranges_.size()) {
    own = ranges_[event.name.value];
  }
  if (own == Phase::none && event.correlation != 0 && !arrows_.empty()) {
    if (const auto end = arrows_.find(event.correlation); end != arrows_.end()) own = end->second;
  }
  if (own != Phase::none || event.kind != EventKind::operatorRun) return own;
  if (event.op == bulk_ && bulk_ && backward_runs_bulks_ && !others_run_bulks_) return Phase::backward;
  if (hasGradient(event.op)) own = Phase::forward;
  return own;
}

void Phases::move(Event& event, Phase phase) {
  if (!event.op || event.op.value >= place_.size() || place_[event.op.value] == 0) return;
  Known& known = facts_[place_[event.op.value] - 1];
  if (known.facts.phase == phase) return;
  OperatorId& moved = known.in_phase[static_cast<std::size_t>(phase)];
  if (!moved) {
    OperatorFacts facts = known.facts;
    facts.phase = phase;
    moved = names_.facts(facts);  // may be none when there are too many
    if (!moved) return;
  }
  event.op = moved;
}

void Phases::apply(std::span<Event> events, Thread& thread) {
  if (!infers_) return;
  for (Event& event : events) {
    const std::size_t depth = std::min<std::size_t>(event.depth, kDeepestRanges);
    if (thread.open.size() <= depth) thread.open.resize(depth + 1, Phase::none);
    const Phase own = ownPhase(event);
    const Phase around = depth > 0 ? thread.open[depth - 1] : Phase::none;
    // Autograd may run forward operators again within a backward one; that is part of the backward pass.
    const bool own_counts = around == Phase::none || (own != Phase::none && own != Phase::forward);
    const Phase phase = own_counts ? own : around;
    thread.open[depth] = phase;
    thread.backward = thread.backward || phase == Phase::backward;
    thread.others = thread.others || (phase != Phase::none && phase != Phase::backward);
    if (event.kind == EventKind::operatorRun) move(event, phase);
  }
  // Only backward functions: a thread of autograd, whose other work belongs to the backward pass too, such as
  // accumulating gradients between two of them.
  if (!thread.backward || thread.others) return;
  for (Event& event : events) {
    if (event.kind == EventKind::operatorRun && phaseOf(event.op) == Phase::none)
      move(event, Phase::backward);
  }
}

}  // namespace pitwall::import
