#include "runtime/profiler/identities.h"

namespace pitwall::profiler {

namespace {

std::size_t mixed(std::size_t hash, std::size_t more) { return (hash ^ more) * 0x9e3779b97f4a7c15U; }

}  // namespace

std::size_t SiteHash::operator()(const Site& site) const noexcept {
  const std::hash<std::string> text;
  return mixed(mixed(text(site.name), static_cast<std::size_t>(site.kind)), text(site.args));
}

std::size_t FactsHash::operator()(const OperatorFacts& facts) const noexcept {
  const std::hash<std::string> text;
  std::size_t hash = text(facts.name);
  for (const std::string* s : {&facts.layer, &facts.shapes, &facts.dtype, &facts.implementation})
    hash = mixed(hash, text(*s));
  return mixed(hash, static_cast<std::size_t>(facts.phase));
}

SiteId Identities::add(const Site& site) {
  const ScopedLock lock(mutex_);
  const auto [entry, fresh] = site_ids_.try_emplace(site);
  if (fresh) {
    sites_.push_back(site);
    entry->second = SiteId{static_cast<std::uint32_t>(sites_.size())};
    if (file_ != nullptr) file_->writeSite(entry->second.value, site);
  }
  return entry->second;
}

OperatorId Identities::add(const OperatorFacts& facts) {
  const ScopedLock lock(mutex_);
  const auto [entry, fresh] = facts_ids_.try_emplace(facts);
  if (fresh) {
    facts_.push_back(facts);
    entry->second = OperatorId{static_cast<std::uint32_t>(facts_.size())};
    if (file_ != nullptr) file_->writeFacts(entry->second.value, facts);
  }
  return entry->second;
}

ring::SiteFacts Identities::site(std::uint32_t id) const {
  const ScopedLock lock(mutex_);
  if (id == 0 || id > sites_.size()) return {"unnamed", EventKind::scope, ""};
  const Site& site = sites_[id - 1];
  return {site.name, site.kind, site.args};
}

OperatorFacts Identities::facts(std::uint32_t id) const {
  const ScopedLock lock(mutex_);
  if (id == 0 || id > facts_.size()) return {};
  return facts_[id - 1];
}

void Identities::keepIn(RingFile* file) {
  const ScopedLock lock(mutex_);
  file_ = file;
  if (file == nullptr) return;
  for (std::size_t i = 0; i < sites_.size(); ++i)
    file->writeSite(static_cast<std::uint32_t>(i + 1), sites_[i]);
  for (std::size_t i = 0; i < facts_.size(); ++i)
    file->writeFacts(static_cast<std::uint32_t>(i + 1), facts_[i]);
}

}  // namespace pitwall::profiler
