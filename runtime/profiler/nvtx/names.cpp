#include "runtime/profiler/nvtx/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/json_string.h"

namespace pitwall::nvtx {

namespace {

// Payloads that differ at each event would need a site each: beyond this many they are counted and left out.
constexpr std::size_t kMostPayloads = 65536;

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

}  // namespace

Names::Names(std::string_view only) : only_(split(only)) { default_ = &domain("default"); }

Domain& Names::domain(std::string_view name) {
  const ScopedLock lock(mutex_);
  for (Domain& known : domains_) {
    if (known.name == name) return known;
  }
  Domain& fresh = domains_.emplace_back();
  fresh.name = name;
  fresh.recorded = only_.empty() || std::find(only_.begin(), only_.end(), name) != only_.end();
  return fresh;
}

void Names::nameCategory(Domain& domain, std::uint32_t category, std::string_view name) {
  const ScopedLock lock(mutex_);
  domain.categories[category] = name;
}

RegisteredString& Names::registerString(Domain& domain, std::string_view text) {
  const ScopedLock lock(mutex_);
  RegisteredString*& known = by_text_[{&domain, std::string(text)}];
  if (known == nullptr) {
    known = &strings_.emplace_back();
    known->text = text;
    known->domain = &domain;
  }
  return *known;
}

void Names::use(Profiler& profiler) {
  const ScopedLock lock(mutex_);
  profiler_ = &profiler;
  sites_.clear();
  site_texts_.clear();
  with_payload_ = 0;
  generation_.fetch_add(1, std::memory_order_relaxed);
}

std::string Names::argumentsOf(const Look& look) const {
  std::string args = "\"domain\":" + jsonString(look.domain->name);
  if (look.category != 0) {
    const auto named = look.domain->categories.find(look.category);
    args += ",\"category\":";
    args +=
        jsonString(named == look.domain->categories.end() ? std::to_string(look.category) : named->second);
  }
  if (look.color != 0) args += fmt::format(",\"color\":\"#{:08x}\"", look.color);
  if (!look.payload.empty()) {
    args += ',';
    args += look.payload;
  }
  return args;
}

SiteId Names::site(const Look& look) {
  const ScopedLock lock(mutex_);
  Look kept = look;
  std::string args = argumentsOf(kept);
  std::string key = args + '\n' + std::string(look.text);
  auto found = sites_.find(key);
  if (found != sites_.end()) return found->second;
  if (!look.payload.empty() && ++with_payload_ > kMostPayloads) {
    payloads_dropped_.fetch_add(1, std::memory_order_relaxed);
    kept.payload = {};
    args = argumentsOf(kept);
    key = args + '\n' + std::string(look.text);
    found = sites_.find(key);
    if (found != sites_.end()) return found->second;
  }
  const SiteId site = profiler_->siteWithArguments(look.text, EventKind::scope, args);
  site_texts_.insert_or_assign(site.value, SiteText{std::string(look.text), args});
  sites_.emplace(std::move(key), site);
  return site;
}

Names::SiteText Names::textOf(SiteId site) const {
  const ScopedLock lock(mutex_);
  const auto found = site_texts_.find(site.value);
  return found == site_texts_.end() ? SiteText{"range", ""} : found->second;
}

const char* Names::keep(std::string_view text) {
  const ScopedLock lock(mutex_);
  return kept_.try_emplace(std::string(text), true).first->first.c_str();
}

}  // namespace pitwall::nvtx
