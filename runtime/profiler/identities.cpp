#include "runtime/profiler/identities.h"

namespace pitwall::profiler {

std::size_t FactsHash::operator()(const OperatorFacts& facts) const noexcept {
  const std::hash<std::string> text;
  std::size_t h = text(facts.name);
  const auto mix = [&h](std::size_t more) { h = (h ^ more) * 0x9e3779b97f4a7c15U; };
  for (const std::string* s : {&facts.layer, &facts.shapes, &facts.dtype, &facts.implementation})
    mix(text(*s));
  mix(static_cast<std::size_t>(facts.phase));
  return h;
}

SiteId Identities::site(std::string_view name, EventKind kind) {
  const std::scoped_lock lock(mutex_);
  const auto [entry, fresh] = site_ids_.try_emplace({std::string(name), kind});
  if (fresh) {
    sites_.push_back({std::string(name), kind});
    entry->second = SiteId{static_cast<std::uint32_t>(sites_.size())};
  }
  return entry->second;
}

OperatorId Identities::facts(const OperatorFacts& facts) {
  const std::scoped_lock lock(mutex_);
  const auto [entry, fresh] = facts_ids_.try_emplace(facts);
  if (fresh) {
    facts_.push_back(facts);
    entry->second = OperatorId{static_cast<std::uint32_t>(facts_.size())};
  }
  return entry->second;
}

Site Identities::site(SiteId id) const {
  const std::scoped_lock lock(mutex_);
  if (id.value == 0 || id.value > sites_.size()) return {"unnamed", EventKind::scope};
  return sites_[id.value - 1];
}

OperatorFacts Identities::facts(OperatorId id) const {
  const std::scoped_lock lock(mutex_);
  if (id.value == 0 || id.value > facts_.size()) return {};
  return facts_[id.value - 1];
}

}  // namespace pitwall::profiler
