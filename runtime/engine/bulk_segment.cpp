#include "runtime/engine/bulk_segment.h"

#include <algorithm>
#include <bit>

#include "runtime/engine/operator_build.h"

namespace pitwall::engine {

void VariableUnion::add(const Access& access) {
  if (slots_.size() < 2 * (accesses_.size() + 1)) grow();
  Slot& slot = find(access.variable);
  if (slot.generation != generation_) {
    slot = {access.variable, static_cast<std::uint32_t>(accesses_.size()), generation_};
    accesses_.push_back({access.variable, nullptr, nullptr, access.writes, access.reads});
    return;
  }
  Access& known = accesses_[slot.index];
  known.writes += access.writes;
  known.reads |= access.reads;
}

void VariableUnion::clear() {
  accesses_.clear();
  if (++generation_ == 0) {
    slots_.assign(slots_.size(), {});
    generation_ = 1;
  }
}

VariableUnion::Slot& VariableUnion::find(const VariableState* variable) {
  // Variables are 64 bytes apart; the multiplier (2^64 / golden ratio) spreads the remaining bits.
  const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(variable)) >> 6;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (key * 0x9e3779b97f4a7c15ULL) >> (64 - std::countr_zero(slots_.size()));
  while (slots_[at].generation == generation_ && slots_[at].variable != variable) at = (at + 1) & mask;
  return slots_[at];
}

void VariableUnion::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), {});
  generation_ = 1;
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    find(accesses_[i].variable) = {accesses_[i].variable, static_cast<std::uint32_t>(i), generation_};
  }
}

bool BulkSegment::accepts(const OperatorDesc& op) const {
  return op.operator_class == OperatorClass::normal && op.priority == 0 &&
         (empty() || op.device == device_) && !op.run.completesLater();
}

void BulkSegment::append(Operator& op) {
  if (empty()) device_ = op.device();
  operators_.append(op);
  for (const Access& access : op.uses()) variables_.add(access);
  ++count_;
}

Operator& BulkSegment::seal(OperatorCache& cache) {
  if (count_ == 1) {
    count_ = 0;
    variables_.clear();
    return *operators_.takeAll().first();
  }
  const std::span<const Access> accesses = variables_.accesses();
  Operator& segment = cache.take(accesses.size());
  segment.child = operators_.takeAll().first();
  segment.access_count = static_cast<std::uint32_t>(accesses.size());
  std::copy(accesses.begin(), accesses.end(), segment.accesses);
  for (Access& access : segment.uses()) access.op = &segment;
  segment.correlation = 0;
  segment.ready = 0;
  segment.pushed = 0;
  segment.facts = {};
  segment.device_index = device_.index;
  segment.device_kind = device_.kind;
  segment.priority = 0;
  segment.kind = NodeKind::segment;
  segment.operator_class = OperatorClass::normal;
  segment.ends_variable = false;
  sortAccesses(segment);
  variables_.clear();
  count_ = 0;
  return segment;
}

}  // namespace pitwall::engine
