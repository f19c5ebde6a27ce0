#include "runtime/profiler_c.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "db/mutex.h"
#include "db/ring_format.h"
#include "db/settings.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "runtime/profiler/c/joined_recording.h"
#include "runtime/profiler/state.h"
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
  std::unique_ptr<Profiler> own PITWALL_GUARDED_BY(mutex);
  // `own`, or the one that was joined; profilers are kept, so that it stays valid.
  std::atomic<Profiler*> profiler{nullptr};
  std::atomic<std::int64_t> next_iteration{0};
};
Recording& recording() {
  static Recording* const instance = [] {
    auto* const made = new Recording;
    profiler::guardCallersLock(made->mutex);
    return made;
  }();
  return *instance;
}
// Made when the library is loaded: a child forked while another thread makes it would wait for it for ever.
[[maybe_unused]] const Recording& g_made_at_load = recording();

std::atomic<profiler_c::Join*> g_join{nullptr};

bool isJoinable() {
  const char* const trace = std::getenv("PITWALL_TRACE");
  return g_join.load() != nullptr && trace != nullptr && *trace != '\0';
}

int join(Recording& one) {
  Profiler* const joined = g_join.load()();
  if (joined == nullptr)
    return failed({ErrorCode::unsupported, "this process is not recorded; standard error says why"});
  one.profiler.store(joined, std::memory_order_release);
  return 0;
}

Profiler* current() {
  Profiler* const profiler = recording().profiler.load(std::memory_order_acquire);
  return profiler != nullptr && profiler->isRecording() ? profiler : nullptr;
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

void profiler_c::setJoin(Join* join) { g_join.store(join); }

extern "C" {

int pitwall_start(const char* trace_path) { return pitwall_start_with(trace_path, PITWALL_DROP, 2 << 20); }

int pitwall_start_with(const char* trace_path, pitwall_policy when_full, int64_t ring_bytes) {
  Recording& one = recording();
  if (isJoinable())
    return join(one);  // without the lock: it takes others, which fork() takes before this one
  const ScopedLock lock(one.mutex);
  if (one.own != nullptr)
    return failed({ErrorCode::invalidInput, "a recording is running: call pitwall_stop() first"});
  if (trace_path == nullptr) return failed({ErrorCode::invalidInput, "pitwall_start: name the trace file"});
  auto sink = createTrace(trace_path);
  if (!sink.has_value()) return failed(sink.error());
  auto profiler = std::make_unique<Profiler>(
      ProfilerOptions{.ring_bytes = ring_bytes, .when_full = static_cast<RingPolicy>(when_full)});
  const Status started = profiler->start(std::move(sink).value(), {.ring_path = ring::filePath(trace_path)});
  if (!started.has_value()) return failed(started.error());
  one.profiler.store(profiler.get(), std::memory_order_release);
  one.own = std::move(profiler);
  one.next_iteration = 0;
  return 0;
}

int pitwall_stop() {
  Recording& one = recording();
  {
    const ScopedLock lock(one.mutex);
    if (one.own != nullptr) {
      const Status stopped = one.own->stop();
      // A thread may be writing a record: its ring belongs to the profiler, which is kept.
      (void)one.own.release();
      return stopped.has_value() ? 0 : failed(stopped.error());
    }
  }
  Profiler* const joined = current();
  if (joined == nullptr) return failed({ErrorCode::invalidInput, "nothing is recorded"});
  const Status flushed = joined->flush();
  return flushed.has_value() ? 0 : failed(flushed.error());
}

int pitwall_is_recording() { return current() != nullptr ? 1 : 0; }

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

void pitwall_iteration(int64_t items) {
  if (Profiler* const profiler = current()) profiler->iteration(recording().next_iteration++, items);
}

int64_t pitwall_tunable(const char* name, int64_t value, int64_t minimum, int64_t maximum) {
  const std::string variable = std::string("PITWALL_TUNE_") + name;
  const char* const text = std::getenv(variable.c_str());
  const std::pair<std::string, std::string> values[] = {{variable, text == nullptr ? "" : text}};
  const auto settings = Settings::fromValues(values);
  TunableInEffect in_effect{name, value, value, minimum, maximum, SettingSource::program};
  std::string refused;
  if (settings.has_value()) in_effect = settings->chosen(std::move(in_effect), refused);
  if (!refused.empty()) (void)std::fprintf(stderr, "pitwall: %s\n", refused.c_str());
  if (Profiler* const profiler = current())
    profiler->withSink([&in_effect](TraceSink& sink) { sink.tunable(in_effect); });
  return in_effect.value;
}

pitwall_site* pitwall_make_site(const char* name, const char* domain) {
  // Both texts are kept with the site.
  struct Made {
    std::string name, domain;
    pitwall_site site{};
  };
  Made* const made = new Made{name, domain == nullptr ? "" : domain};
  made->site = {made->name.c_str(), made->domain.c_str(), nullptr};
  return &made->site;
}

void pitwall_name_thread(const char* name) { profiler::nameThreadOfSites(name); }

void pitwall_switch_sites(const char* name_or_domain, int on) { switchSites(name_or_domain, on != 0); }

}  // extern "C"
