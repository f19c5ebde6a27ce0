#include "runtime/profiler_c.h"

#include <atomic>
#include <memory>
#include <string>

#include "db/mutex.h"
#include "db/ring_format.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "runtime/record_macros.h"

namespace {

using namespace pitwall;

thread_local std::string t_error;

int failed(const Error& error) {
  t_error = error.message;
  return -1;
}

// The one recording of a C program. Never destroyed: threads may record until the very end.
struct Recording {
  Mutex mutex;
  std::unique_ptr<Profiler> profiler PITWALL_GUARDED_BY(mutex);
};
Recording& recording() {
  static Recording* const instance = new Recording;
  return *instance;
}

// The C++ site of a C one, created at the first use and kept.
StaticSite& siteOf(pitwall_site* site) {
  std::atomic_ref<void*> handle(site->handle);
  void* known = handle.load(std::memory_order_acquire);
  if (known != nullptr) return *static_cast<StaticSite*>(known);
  auto made =
      std::make_unique<StaticSite>(site->name, EventKind::scope, site->domain == nullptr ? "" : site->domain);
  if (handle.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *static_cast<StaticSite*>(known);
}

}  // namespace

extern "C" {

int pitwall_start(const char* trace_path) { return pitwall_start_with(trace_path, PITWALL_DROP, 2 << 20); }

int pitwall_start_with(const char* trace_path, pitwall_policy when_full, int64_t ring_bytes) {
  Recording& one = recording();
  const ScopedLock lock(one.mutex);
  if (one.profiler != nullptr)
    return failed({ErrorCode::invalidInput, "a recording is running: call pitwall_stop() first"});
  auto sink = createTrace(trace_path);
  if (!sink.has_value()) return failed(sink.error());
  auto profiler = std::make_unique<Profiler>(
      ProfilerOptions{.ring_bytes = ring_bytes, .when_full = static_cast<RingPolicy>(when_full)});
  const Status started = profiler->start(std::move(sink).value(), {.ring_path = ring::filePath(trace_path)});
  if (!started.has_value()) return failed(started.error());
  one.profiler = std::move(profiler);
  return 0;
}

int pitwall_stop() {
  Recording& one = recording();
  const ScopedLock lock(one.mutex);
  if (one.profiler == nullptr) return failed({ErrorCode::invalidInput, "nothing is recorded"});
  const Status stopped = one.profiler->stop();
  // A thread may be writing a record: its ring belongs to the profiler, which is kept.
  (void)one.profiler.release();
  return stopped.has_value() ? 0 : failed(stopped.error());
}

const char* pitwall_last_error() { return t_error.c_str(); }

uint64_t pitwall_scope_begin(pitwall_site* site) {
  const std::uint32_t number = siteOf(site).number();
  if (number == 0) return 0;
  profiler::Ring* const own = profiler::siteRing();
  const Ticks started = profiler::readClock();
  profiler::open(own, number, started);
  return started;
}

void pitwall_scope_end(pitwall_site* site, uint64_t scope) { pitwall_scope_end_value(site, scope, 0); }

void pitwall_scope_end_value(pitwall_site* site, uint64_t scope, int64_t value) {
  if (scope == 0) return;
  const std::uint16_t depth = --profiler::t_current.depth;
  const std::uint32_t number = siteOf(site).number();
  if (number == 0) return;
  const Ticks finished = profiler::readClock();
  profiler::Ring* const own = profiler::siteRing();
  if (own == nullptr) return;
  profiler::put(own, {scope, finished - scope, static_cast<std::uint64_t>(value), number,
                      ring::RecordKind::span, ring::kAnnounced, depth});
  own->depth.store(depth, std::memory_order_release);
}

void pitwall_instant(pitwall_site* site, int64_t value) { profiler::recordInstant(siteOf(site), value); }

void pitwall_counter(pitwall_site* site, double value) { profiler::recordCounter(siteOf(site), value); }

void pitwall_name_thread(const char* name) { profiler::nameThreadOfSites(name); }

void pitwall_switch_sites(const char* name_or_domain, int on) { switchSites(name_or_domain, on != 0); }

}  // extern "C"
