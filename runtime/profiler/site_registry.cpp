#include "runtime/profiler/site_registry.h"

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler/state.h"
#include "runtime/profiler/thread_log.h"

namespace pitwall {

namespace profiler {
std::atomic<std::uint64_t> g_site_owner{0};
}  // namespace profiler

namespace {

struct Registry {
  Mutex mutex;
  std::vector<StaticSite*> sites PITWALL_GUARDED_BY(mutex);
  std::vector<std::pair<std::string, bool>> switches PITWALL_GUARDED_BY(mutex);  // the last match wins
  Profiler* profiler PITWALL_GUARDED_BY(mutex) = nullptr;
};

// Never destroyed: a site may be reached in a destructor of a static.
Registry& registry() {
  static Registry* const instance = [] {
    profiler::registerForkGuard();
    return new Registry;
  }();
  return *instance;
}

bool isOn(const Registry& all, std::string_view name, std::string_view domain) PITWALL_REQUIRES(all.mutex) {
  bool on = true;
  for (const auto& [which, to] : all.switches) {
    if (which == "*" || which == name || (!domain.empty() && which == domain)) on = to;
  }
  return on;
}

}  // namespace

void SiteRegistry::setState(StaticSite& site, bool recording) {
  Registry& all = registry();
  all.mutex.assertHeld();
  std::uint32_t state = 0;
  if (recording && isOn(all, site.name_, site.domain_))
    state = all.profiler->site(site.name_, site.kind_, site.domain_).value;
  site.state_.store(state, std::memory_order_relaxed);
}

void SiteRegistry::recordingStarted(Profiler& profiler) {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  if (all.profiler != nullptr) return;
  all.profiler = &profiler;
  for (StaticSite* site : all.sites) setState(*site, true);
  profiler::g_site_owner.store(profiler.id_, std::memory_order_release);
}

void SiteRegistry::recordingStopped(Profiler& profiler) {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  if (all.profiler != &profiler) return;
  for (StaticSite* site : all.sites) setState(*site, false);
  profiler::g_site_owner.store(0, std::memory_order_release);
  all.profiler = nullptr;
}

void SiteRegistry::lockForFork() { registry().mutex.lock(); }
void SiteRegistry::unlockAfterFork() { registry().mutex.unlock(); }

void SiteRegistry::leaveInChild() {
  Registry& all = registry();
  all.mutex.assertHeld();
  for (StaticSite* site : all.sites) setState(*site, false);
  profiler::g_site_owner.store(0, std::memory_order_release);
  all.profiler = nullptr;
}

std::uint32_t SiteRegistry::registerSite(StaticSite& site) {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  if (site.state_.load(std::memory_order_relaxed) == StaticSite::kUnregistered) {
    all.sites.push_back(&site);
    setState(site, all.profiler != nullptr);
  }
  return site.state_.load(std::memory_order_relaxed);
}

void SiteRegistry::switchSites(std::string_view name_or_domain, bool on) {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  std::erase_if(all.switches, [&](const auto& known) { return known.first == name_or_domain; });
  if (name_or_domain == "*") all.switches.clear();
  all.switches.emplace_back(name_or_domain, on);
  for (StaticSite* site : all.sites) setState(*site, all.profiler != nullptr);
}

profiler::Ring* SiteRegistry::ring() {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  return all.profiler == nullptr ? nullptr : all.profiler->makeRing();
}

CorrelationId SiteRegistry::newCorrelation() {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  return all.profiler == nullptr ? 0 : all.profiler->newCorrelation();
}

void SiteRegistry::flow(CorrelationId from, CorrelationId to) {
  profiler::put(profiler::siteRing(), {from, to, 0, 0, ring::RecordKind::dependency,
                                       static_cast<std::uint8_t>(DependencyKind::flow), 0});
}

void SiteRegistry::nameThread(std::string_view name) {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  if (all.profiler == nullptr) {
    profiler::rememberThreadName(name);
  } else {
    all.profiler->nameThread(name);
  }
}

std::uint32_t StaticSite::registerSite() { return SiteRegistry::registerSite(*this); }

void switchSites(std::string_view name_or_domain, bool on) { SiteRegistry::switchSites(name_or_domain, on); }

CorrelationId SiteScope::flowOut() {
  if (number_ == 0) return 0;
  if (correlation_ == 0) correlation_ = SiteRegistry::newCorrelation();
  return correlation_;
}

void SiteScope::flowIn(CorrelationId from) {
  if (number_ == 0 || from == 0) return;
  if (const CorrelationId own = flowOut(); own != 0) SiteRegistry::flow(from, own);
}

void SiteScope::putLinked(profiler::Ring* ring, const ring::Record& record, CorrelationId correlation) {
  profiler::putWith(ring, record, correlation, nullptr);
}

namespace profiler {

Ring* ringOfSites() { return SiteRegistry::ring(); }

void recordInstant(StaticSite& site, std::int64_t value) {
  const std::uint32_t number = site.number();
  if (number == 0) return;
  put(siteRing(),
      {readClock(), 0, static_cast<std::uint64_t>(value), number, RecordKind::instant, 0, t_current.depth});
}

void recordCounter(StaticSite& site, double value) {
  const std::uint32_t number = site.number();
  if (number == 0) return;
  put(siteRing(), {readClock(), 0, std::bit_cast<std::uint64_t>(value), number, RecordKind::counter, 0, 0});
}

void nameThreadOfSites(std::string_view name) { SiteRegistry::nameThread(name); }

}  // namespace profiler
}  // namespace pitwall
